// The report in a real browser. Usage: node check.mjs FOLDER, with the reports that check.sh makes:
// plain, hostile, large, several, none.html. Ends with "N checks" or the first failure of each.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openReport, SIZES, startBrowser } from './browser.mjs';

const folder = process.argv[2];
let browser, checks = 0, failures = 0;

// Opens a report once and checks it by the functions, one after the other.
async function check(report, size, bodies, more = {}) {
    const start = Date.now(), opened = await openReport(browser, join(folder, report + '.html'), { ...SIZES[size], ...more });
    if (more.javaScriptEnabled !== false) await opened.page.waitForSelector('html[data-ready=yes]', { state: 'attached' });
    for (const body of bodies) {
        try {
            await body(opened.page, opened);
            assert.deepEqual(opened.problems, []);
            checks++;
        } catch (error) {
            failures++;
            console.log(`FAILED: ${report}, ${size}: ${body.name}: ${error.message}`);
            opened.problems.length = 0;
        }
    }
    await opened.close();
    console.log(`${report}, ${size}: ${bodies.map(body => body.name).join(', ')} (${((Date.now() - start) / 1e3).toFixed(1)} s)`);
}

const dataOf = page => page.evaluate(() => {
    const data = JSON.parse(document.getElementById('data').textContent);
    const col = Object.fromEntries(data.columns.map((n, i) => [n, i]));
    return { runs: data.runs.map(r => ({ ...r, lines: r.lines.length })), rows: data.rows, col };
});
const cells = (page, column) => page.$$eval(`#body tr.row td.w-${column}`, list => list.map(td => td.textContent));
const viewOf = async page => (await page.getAttribute('#plot', 'data-view')).split(' ').map(Number);
const frame = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
const shown = page => page.textContent('#shown');

// Nothing is wider than the window, and no button, head or figure is cut off.
async function assertFits(page) {
    const faults = await page.evaluate(() => {
        const width = document.documentElement.clientWidth, out = [];
        if (document.documentElement.scrollWidth > width) out.push('the page is wider than the window');
        for (const e of document.querySelectorAll('button, h1, h2, h3, dd, .facts td, .facts th, label, select, input')) {
            const box = e.getBoundingClientRect();
            if (box.width === 0 || e.closest('.scroll, #scroller, details:not([open])')) continue;
            if (box.right > width + 1 || box.left < -1) out.push(`${e.tagName} ${e.id || e.textContent.slice(0, 40)} sticks out`);
            if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth && !e.matches('input, select')) out.push(`${e.tagName} ${e.textContent.slice(0, 40)} is cut off`);
        }
        const texts = [...document.querySelectorAll('#curves text')].map(t => t.getBoundingClientRect());
        const paper = document.getElementById('curves').getBoundingClientRect();
        if (texts.some(t => t.left < paper.left || t.right > paper.right)) out.push('a label of the trace is cut off');
        texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
            if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) out.push('labels of the trace overlap');
        }));
        return out;
    });
    assert.deepEqual(faults, []);
}

async function sortsAndFilters(page) {
    const { rows, col } = await dataOf(page);
    const by = (column, down) => rows.map((r, i) => [r[col[column]], i]).filter(([v]) => v !== null)
        .sort((a, b) => (down ? b[0] - a[0] : a[0] - b[0]) || a[1] - b[1]).map(([, i]) => String(rows[i][col.index] + 1));
    await page.click('th.w-energy button');
    assert.deepEqual((await cells(page, 'index')).slice(0, 10), by('joules', false).slice(0, 10));
    assert.equal(await page.getAttribute('th.w-energy', 'aria-sort'), 'ascending');
    await page.click('th.w-energy button');
    assert.deepEqual((await cells(page, 'index')).slice(0, 10), by('joules', true).slice(0, 10));
    assert.equal(await page.getAttribute('th.w-energy', 'aria-sort'), 'descending');

    const failed = rows.filter(r => !r[col.ok]).length;
    assert.ok(failed > 0 && failed < rows.length);
    await page.selectOption('#by-verdict', 'failed');
    assert.equal(await shown(page), `${failed} of ${rows.length} queries`);
    assert.ok((await cells(page, 'verdict')).every(text => text === '! failed'));
    await page.selectOption('#by-verdict', '');
    const words = String(rows[7][col.problem]);
    await page.fill('#search', words.toUpperCase());
    const found = rows.filter(r => ['problem', 'response', 'answer', 'subject', 'error'].some(c => String(r[col[c]]).toLowerCase().includes(words.toLowerCase()))).length;
    await page.waitForFunction(text => document.getElementById('shown').textContent === text, `${found} of ${rows.length} queries`);
    await page.fill('#search', 'no such words anywhere');
    await page.waitForFunction(n => document.getElementById('shown').textContent === `0 of ${n} queries`, rows.length);
    assert.equal((await cells(page, 'index')).length, 0);
    await page.fill('#search', '');
    await page.waitForFunction(n => document.getElementById('shown').textContent === `${n} queries`, rows.length);
}

async function opensAQuery(page) {
    const { rows, col } = await dataOf(page);
    await page.locator('#body tr.row').nth(2).click();
    assert.ok(await page.locator('#query').isVisible());
    assert.equal(await page.textContent('#query-title'), 'Query 3');
    const text = await page.textContent('#query-body');
    assert.ok(text.includes(rows[2][col.problem]) && text.includes(rows[2][col.response]));
    assert.match(text, /Energy \(gpu\+cpu\)[\d.]+\u00a0J \([\d.]+ to [\d.]+\)/);
    await assertFits(page);
    await page.click('#query-after');
    assert.equal(await page.textContent('#query-title'), 'Query 4');
    await page.keyboard.press('Escape');
    assert.ok(!(await page.locator('#query').isVisible()));
    // the keyboard alone
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.getAttribute('#body tr.selected', 'id'), 'row-4');
    assert.equal(await page.getAttribute('#table', 'aria-activedescendant'), 'row-4');
    await page.keyboard.press('Enter');
    assert.equal(await page.textContent('#query-title'), 'Query 5');
    await page.keyboard.press('Escape');
}

async function tracesAndTable(page) {
    const { rows, col } = await dataOf(page), box = await page.locator('#curves').boundingBox();
    const [from, to] = await viewOf(page);
    await page.locator('#curves').scrollIntoViewIfNeeded();
    await page.click('#zoom-in');
    await frame(page);
    let [a, b] = await viewOf(page);
    assert.ok(Math.abs((b - a) / (to - from) - 0.5) < 0.01, 'a click on + halves what is seen');
    await page.click('#zoom-all');
    await frame(page);
    assert.deepEqual(await viewOf(page), [from, to]);
    // a query of the table is shown in the trace ...
    await page.locator('#body tr.row').nth(5).click();
    await page.click('#query-trace');
    await frame(page);
    [a, b] = await viewOf(page);
    assert.ok(a <= rows[5][col.sent] / 1e6 && b >= rows[5][col.end] / 1e6 && b - a < (to - from) / 2);
    assert.equal(await page.locator('#curves .band').count(), 1);
    // ... and the bar in the middle of it is that query: another is selected by a click on its bar
    await page.click('#zoom-all');
    await frame(page);
    const target = rows[Math.floor(rows.length / 2)], middle = (target[col.sent] + target[col.end]) / 2e6;
    const at = await page.locator('#curves').boundingBox();
    await page.mouse.click(at.x + 52 + (middle - from) / (to - from) * (at.width - 62), at.y + at.height - 12);
    await frame(page);
    assert.equal(await page.getAttribute('#body tr.selected', 'id'), `row-${Math.floor(rows.length / 2)}`);
    assert.ok(box.width > 200);
}

async function mouseZoom(page) {
    await page.locator('#curves').scrollIntoViewIfNeeded();
    await page.waitForTimeout(300); // the page has come to rest: the wheel is the trace's
    const [from, to] = await viewOf(page), box = await page.locator('#curves').boundingBox();
    const x = part => box.x + 52 + part * (box.width - 62), y = box.y + 100;
    await page.mouse.move(x(0.5), y);
    assert.match(await page.textContent('#tip'), /W/);
    assert.ok(await page.locator('#tip').isVisible());
    await page.mouse.wheel(0, -400);
    await frame(page);
    let [a, b] = await viewOf(page);
    assert.ok(b - a < (to - from) * 0.7, 'the wheel zooms in');
    assert.ok(Math.abs((a + b) / 2 - (from + to) / 2) < (to - from) * 0.01, 'around the pointer');
    await page.mouse.dblclick(x(0.5), y);
    await frame(page);
    assert.deepEqual(await viewOf(page), [from, to], 'a double click shows all');
    await page.mouse.move(x(0.25), y);
    await page.mouse.down();
    await page.mouse.move(x(0.4), y, { steps: 4 });
    await page.mouse.move(x(0.5), y, { steps: 4 });
    await page.mouse.up();
    await frame(page);
    [a, b] = await viewOf(page);
    const span = to - from;
    assert.ok(Math.abs(a - from - span / 4) < span * 0.01 && Math.abs(b - from - span / 2) < span * 0.01, 'a drag shows its stretch');
    await page.focus('#plot');
    await page.keyboard.press('0');
    await frame(page);
    assert.deepEqual(await viewOf(page), [from, to], 'the key 0 shows all');
}

async function pinches(page) {
    await page.locator('#curves').scrollIntoViewIfNeeded();
    const [from, to] = await viewOf(page), box = await page.locator('#curves').boundingBox();
    const session = await page.context().newCDPSession(page), y = box.y + 80, middle = box.x + 52 + (box.width - 62) / 2;
    const touch = (type, apart) => session.send('Input.dispatchTouchEvent', {
        type, touchPoints: type === 'touchEnd' ? [] : [{ x: middle - apart, y, id: 0 }, { x: middle + apart, y, id: 1 }] });
    await touch('touchStart', 30);
    for (const apart of [40, 60, 90]) await touch('touchMove', apart);
    await touch('touchEnd');
    await frame(page);
    const [a, b] = await viewOf(page);
    assert.ok(Math.abs((b - a) / (to - from) - 1 / 3) < 0.05, `three times as far apart shows a third, not ${(b - a) / (to - from)}`);
}

// Every value of the trace that the pointer shows lies on the curve.
async function hoverIsExact(page) {
    const wrong = await page.evaluate(() => {
        const data = JSON.parse(document.getElementById('data').textContent), plot = document.getElementById('plot');
        const svg = document.getElementById('curves'), box = svg.getBoundingClientRect(), out = [];
        const [from, to] = plot.dataset.view.split(' ').map(Number), line = data.runs[0].lines.find(l => l.shown);
        let t = 0;
        const times = line.t.map(d => (t += d) / 1e4);
        for (let part = 0.1; part < 1; part += 0.2) {
            const x = 52 + part * (box.width - 62);
            svg.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + x, clientY: box.top + 50, bubbles: true, pointerType: 'mouse' }));
            const time = from + part * (to - from), k = times.findIndex(at => at > time);
            const seen = document.querySelector('#tip div b').textContent;
            const values = [line.mw[k - 1], line.mw[k]].filter(w => w !== null).map(w => w / 1e3);
            const read = Number(seen.replace(/[^\d.]/g, ''));
            if (!values.some(v => Math.abs(v - read) <= 0.001 * v)) out.push(`${time} s: ${seen}, not ${values}`);
        }
        return out;
    });
    assert.deepEqual(wrong, []);
}

// Hostile text is in the page as text, wherever it is shown, and did nothing.
async function staysText(page) {
    const { rows, col } = await dataOf(page);
    assert.ok(rows.some(r => String(r[col.problem]).includes('</script>')));
    assert.ok(rows.some(r => String(r[col.problem]).includes('onerror')));
    for (let i = 0; i < 12; i++) {
        await page.locator('#body tr.row').nth(i).click();
        const texts = await page.$$eval('#query-body pre', list => list.map(pre => pre.textContent));
        if (rows[i][col.problem]) {
            const plain = s => s.replace(/\r\n/g, '\n').replace(/\[U\+[0-9A-F]{4}\]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '*');
            assert.ok(texts.some(text => plain(text) === plain(String(rows[i][col.problem]))), `row ${i} is shown as it is`);
        }
        assert.ok(texts.every(text => !/[\u202a-\u202e\u2066-\u2069\u001b]/.test(text)), 'what would turn the text is named');
        assert.equal(await page.locator('#query-body').locator('script, img, iframe, svg, a, style, object').count(), 0);
        await page.keyboard.press('Escape');
    }
    const state = await page.evaluate(() => ({
        title: document.title, elements: document.querySelectorAll('script').length,
        handlers: [...document.querySelectorAll('*')].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).length,
        links: [...document.querySelectorAll('a')].filter(a => !a.getAttribute('href').startsWith('#')).length,
        direction: [...document.querySelectorAll('h1, td, .sub')].some(e => /[\u202a-\u202e\u2066-\u2069]/.test(e.textContent)),
    }));
    assert.notEqual(state.title, 'owned');
    assert.deepEqual(state, { title: state.title, elements: 2, handlers: 0, links: 0, direction: false });
}

async function policyHolds(page, { problems }) {
    const result = await page.evaluate(async () => {
        const out = {};
        try { const d = document.createElement('div'); d.innerHTML = '<b>x</b>'; out.markup = 'made'; } catch { out.markup = 'refused'; }
        const script = document.createElement('script');
        try { script.textContent = 'window.ran = 1'; document.body.append(script); } catch { /* refused */ }
        out.script = window.ran ? 'ran' : 'refused';
        out.fetch = await fetch('https://example.invalid/').then(() => 'sent', () => 'refused');
        return out;
    });
    assert.deepEqual(result, { markup: 'refused', script: 'refused', fetch: 'refused' });
    assert.ok(problems.every(p => !p.startsWith('request')), 'nothing was asked for');
    problems.length = 0; // the refusals are on the console, as they should be
}

// Ten thousand queries: few rows in the document, every frame of a long scroll drawn in time.
async function largeScrolls(page) {
    assert.match(await shown(page), /^10\u202f000 queries$/);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const busy = async () => (await session.send('Performance.getMetrics')).metrics
        .find(metric => metric.name === 'TaskDuration').value * 1e3;
    const jumps = await page.evaluate(async () => {
        const scroller = document.getElementById('scroller'), end = scroller.scrollHeight - scroller.clientHeight;
        let rows = 0, blank = 0;
        for (let i = 0; i <= 20; i++) {
            scroller.scrollTop = end * i / 20;
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            const box = scroller.getBoundingClientRect(), list = [...document.querySelectorAll('#body tr.row')];
            rows = Math.max(rows, list.length);
            const seen = list.map(tr => tr.getBoundingClientRect()).filter(r => r.bottom > box.top + 40 && r.top < box.bottom);
            if (seen.length < Math.floor((box.height - 45) / 37)) blank++;
        }
        return { rows, blank, last: document.querySelector('#body tr.row:nth-last-child(2) td').textContent };
    });
    assert.ok(jumps.rows < 100, `${jumps.rows} rows in the document`);
    assert.equal(jumps.blank, 0, 'no empty stretch comes into sight');
    assert.equal(jumps.last, '10000');
    // CPU time of the page, so that other work on the machine does not count
    const before = await busy();
    await page.evaluate(async () => {
        const scroller = document.getElementById('scroller');
        for (let i = 0; i < 60; i++) {
            scroller.scrollTop -= 120; // a notch of the wheel
            await new Promise(requestAnimationFrame);
        }
    });
    const step = (await busy() - before) / 60;
    assert.ok(step < 16, `a frame of scrolling takes ${step.toFixed(1)} ms`);
    const sorting = await busy();
    await page.click('th.w-energy button');
    await frame(page);
    assert.ok(await busy() - sorting < 500, `sorting took ${await busy() - sorting} ms`);
    console.log(`10 000 queries: ${jumps.rows} rows drawn, ${step.toFixed(1)} ms a frame of scrolling`);
}

async function withoutScript(page) {
    const text = await page.innerText('body');
    for (const word of ['DEGRADED', 'Accuracy', 'Energy per answer', 'Intelligence per watt', 'to repeat it', 'needs JavaScript', 'Latency, median'])
        assert.ok(text.toLowerCase().includes(word.toLowerCase()), `the page without script shows: ${word}`);
    assert.ok(!(await page.locator('#trace').isVisible()));
    assert.ok(await page.locator('figure img').first().isVisible());
    await assertFits(page);
}

// Every chart is drawn, on the paper of the screen it is on.
async function chartsShow(page) {
    for (const [colorScheme, paper] of [['light', [255, 255, 255]], ['dark', [22, 25, 29]]]) {
        await page.emulateMedia({ colorScheme });
        const charts = await page.$$eval('figure img', async list => {
            const out = [];
            for (const img of list) {
                await img.decode();
                const canvas = document.createElement('canvas'), pen = canvas.getContext('2d');
                pen.drawImage(img, 0, 0);
                out.push({ width: img.naturalWidth, paper: [...pen.getImageData(2, 2, 1, 1).data].slice(0, 3) });
            }
            return out;
        });
        assert.ok(charts.length >= 5);
        for (const chart of charts) {
            assert.ok(chart.width > 300);
            assert.deepEqual(chart.paper, paper);
        }
    }
}

async function printsLight(page) {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const look = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.getElementById('filters')).display]);
    assert.deepEqual(look, ['rgb(255, 255, 255)', 'none']);
    const pdf = await page.pdf({ format: 'A4' });
    assert.ok(pdf.length > 10000);
}

// What is small is at least 4.5 : 1 against its paper.
async function hasContrast(page) {
    const low = await page.evaluate(() => {
        const rgb = text => text.match(/[\d.]+/g).map(Number);
        const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const paper = e => {
            for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
            return [255, 255, 255];
        };
        const out = new Set();
        for (const e of document.querySelectorAll('p, td, th, dt, dd, li, h1, h2, h3, button, label, a, strong, caption, figcaption, span')) {
            if (!e.textContent.trim() || !e.getClientRects().length) continue;
            const a = light(rgb(getComputedStyle(e).color)), b = light(paper(e));
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < 4.5) out.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
        }
        return [...out];
    });
    assert.deepEqual(low, []);
}

async function looks(page) {
    for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        await assertFits(page);
        await hasContrast(page);
    }
}

async function comparesRuns(page) {
    const { runs, rows } = await dataOf(page);
    assert.equal(runs.length, 3);
    assert.equal(await page.locator('.card').count(), 3);
    assert.equal(await page.locator('#metrics .facts').first().locator('thead th').count(), 3);
    await page.selectOption('#by-run', '1');
    assert.match(await shown(page), new RegExp(` of ${rows.length} queries`));
    await page.selectOption('#trace-run', '2');
    await frame(page);
    assert.match(await page.textContent('#legend'), /ESTIMATED/);
    assert.match(await page.textContent('.alert'), /ESTIMATED ENERGY/);
}

async function saysNoEnergyFirst(page) {
    assert.equal(await page.$eval('body > header > :first-child strong', e => e.textContent), 'NO ENERGY');
    assert.match(await page.textContent('.big'), /Energy per answer\u2014/);
}

async function staysSmall() {
    assert.ok(readFileSync(join(folder, 'large.html')).length < 20e6);
}

try {
    browser = await startBrowser();
} catch (error) {
    console.log(`FAILED: the browser does not start: ${error.message}`);
    process.exit(1);
}
try {
    await check('plain', 'desktop', [looks, chartsShow, hoverIsExact, mouseZoom, tracesAndTable, printsLight]);
    await check('plain', 'desktop', [opensAQuery, sortsAndFilters]);
    await check('plain', 'phone', [looks, chartsShow, pinches]);
    await check('plain', 'phone', [tracesAndTable]);
    await check('plain', 'phone', [opensAQuery, sortsAndFilters]);
    for (const size of ['desktop', 'phone']) {
        await check('hostile', size, [looks, staysText]);
        await check('several', size, [looks, comparesRuns]);
        await check('none', size, [looks, saysNoEnergyFirst]);
        await check('plain', size, [withoutScript], { javaScriptEnabled: false });
    }
    await check('hostile', 'desktop', [policyHolds]);
    await check('large', 'desktop', [largeScrolls, staysSmall]);
} finally {
    await browser.close();
}
console.log(`${checks} checks passed, ${failures} failed`);
process.exit(failures ? 1 : 0);
