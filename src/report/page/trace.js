/* The power trace: curves per rail, the queries as bars below, zoom. Drawn as SVG from typed arrays:
 * per pixel column only the lowest and highest value are drawn, so a frame costs the same however
 * long the run was. */

function makeTrace() {
    const svg = byId('curves'), plot = byId('plot'), tip = byId('tip');
    const LEFT = 52, RIGHT = 10, TOP = 10, AXIS = 22, CURVES = 230, LANE_MAX = 12;
    const state = { run: 0, lines: [], from: 0, to: 1, a: 0, b: 1, width: 800, lanes: [], laneHeight: LANE_MAX };

    /* ---- data ---- */

    function decode(line, i) {
        const n = line.t.length, t = new Float64Array(n), w = new Float64Array(n);
        let at = 0;
        for (let k = 0; k < n; k++) {
            at += line.t[k];
            t[k] = at / 1e4;
            w[k] = line.mw[k] === null ? NaN : line.mw[k] / 1e3;
        }
        return { ...line, t, w, label: labelOf(line, line.device), brief: labelOf(line, ''), look: i };
    }

    function labelOf(line, device) {
        const parts = [line.rail.toUpperCase(), line.name, device].filter(Boolean);
        return [...new Set(parts)].join(' \u00b7 ') + (line.step ? ', counter' : ', power') +
            (line.estimated ? ' (ESTIMATED)' : '');
    }

    /* Queries side by side: each goes to the first lane that is free. */
    function assignLanes(run) {
        const own = [];
        rows.forEach((row, i) => {
            const sent = realOf(row, 'sent'), end = realOf(row, 'end');
            if (row[COL.run] === run && sent !== null && end !== null && end >= sent)
                own.push({ i, sent, end, verdict: verdictOf(row) });
        });
        own.sort((x, y) => x.sent - y.sent);
        const lanes = [], MAX = 64;
        own.forEach((q, k) => {
            let lane = lanes.findIndex(l => l[l.length - 1].end <= q.sent);
            if (lane < 0) lane = lanes.length < MAX ? lanes.push([]) - 1 : k % MAX;
            lanes[lane].push(q);
        });
        return lanes;
    }

    function firstAfter(array, value, key) {
        let low = 0, high = array.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if ((key ? array[middle][key] : array[middle]) > value) high = middle; else low = middle + 1;
        }
        return low;
    }

    function open(run) {
        state.run = run;
        state.lines = data.runs[run].lines.map(decode);
        state.lanes = assignLanes(run);
        let from = Infinity, to = -Infinity;
        for (const line of state.lines) {
            from = Math.min(from, line.t[0]);
            to = Math.max(to, line.t[line.t.length - 1]);
        }
        for (const lane of state.lanes) {
            from = Math.min(from, lane[0].sent);
            to = Math.max(to, lane[lane.length - 1].end);
        }
        if (!(to > from)) { from = Number.isFinite(from) ? from : 0; to = from + 1; }
        Object.assign(state, { from, to, a: from, b: to });
        state.laneHeight = Math.max(3, Math.min(LANE_MAX, Math.floor(96 / Math.max(1, state.lanes.length))));
        drawLegend();
        draw();
        const note = data.runs[run];
        byId('trace-note').textContent = note.points < note.samples
            ? 'The curves show ' + number(note.points) + ' of ' + number(note.samples) +
              ' samples; every peak and every dip is among them.' : '';
    }

    /* ---- geometry ---- */

    const inner = () => state.width - LEFT - RIGHT;
    const xOf = t => LEFT + (t - state.a) / (state.b - state.a) * inner();
    const timeAt = x => state.a + (x - LEFT) / inner() * (state.b - state.a);
    const asClock = () => Math.max(Math.abs(state.a), Math.abs(state.b)) >= 120;
    const bottom = () => TOP + CURVES;
    const lanesTop = () => bottom() + AXIS;
    const height = () => lanesTop() + state.lanes.length * state.laneHeight + 6;

    function niceStep(span, most, bases) {
        const raw = span / most;
        for (const base of bases) if (base >= raw) return base;
        const ten = Math.pow(10, Math.floor(Math.log10(raw)));
        return [1, 2, 5, 10].map(f => f * ten).find(f => f >= raw * 0.999999);
    }
    function timeStep(span, most) {
        return span / most < 1 ? niceStep(span, most, [])
            : niceStep(span, most, [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]);
    }

    /* ---- drawing ---- */

    function highest() {
        let top = 0;
        for (const line of state.lines) {
            if (!line.shown) continue;
            const from = Math.max(0, firstAfter(line.t, state.a) - 1), to = firstAfter(line.t, state.b);
            for (let k = from; k <= to && k < line.t.length; k++) if (line.w[k] > top) top = line.w[k];
        }
        return top || 1;
    }

    function drawAxes(top) {
        const grid = [], labels = [];
        const step = niceStep(top, 4, []), yOf = w => bottom() - w / top * (CURVES - 8);
        for (let w = 0; w <= top * 1.0001; w += step) {
            grid.push('M' + LEFT + ' ' + yOf(w).toFixed(1) + 'H' + (state.width - RIGHT));
            const label = makeSvg('text', { x: LEFT - 6, y: (yOf(w) + 4).toFixed(1), 'text-anchor': 'end' });
            const [size, unit] = top >= 2000 ? [1000, 'kW'] : [1, 'W'];
            label.textContent = number(w / size, unit, Math.max(0, Math.min(4, Math.ceil(-Math.log10(step / size)))));
            labels.push(label);
        }
        const time = timeStep(state.b - state.a, Math.max(2, Math.floor(inner() / 75)));
        for (let t = Math.ceil(state.a / time) * time; t <= state.b; t += time) {
            const x = xOf(t);
            grid.push('M' + x.toFixed(1) + ' ' + TOP + 'V' + bottom());
            if (x < LEFT + 18 || x > state.width - RIGHT - 18) continue;
            const label = makeSvg('text', { x: x.toFixed(1), y: bottom() + 15, 'text-anchor': 'middle' });
            label.textContent = clock(Math.abs(t) < time / 1e3 ? 0 : t, time, asClock());
            labels.push(label);
        }
        return [makeSvg('path', { class: 'grid', d: grid.join('') }), ...labels];
    }

    function curvePath(line, top) {
        const from = Math.max(0, firstAfter(line.t, state.a) - 1);
        const to = Math.min(line.t.length - 1, firstAfter(line.t, state.b));
        const yOf = w => (bottom() - w / top * (CURVES - 8)).toFixed(1);
        const out = [];
        let up = true; /* the pen */
        if (to - from <= 2 * inner()) {
            for (let k = from; k <= to; k++) {
                const x = xOf(line.t[k]).toFixed(1);
                if (Number.isNaN(line.w[k])) { up = true; continue; }
                if (up) {
                    const begin = line.step && k > 0 ? xOf(line.t[k - 1]).toFixed(1) : x;
                    out.push('M' + begin + ' ' + yOf(line.w[k]) + 'H' + x);
                } else {
                    out.push(line.step ? 'V' + yOf(line.w[k]) + 'H' + x : 'L' + x + ' ' + yOf(line.w[k]));
                }
                up = false;
            }
            return out.join('');
        }
        let column = null, first = 0, low = 0, high = 0, last = 0;
        const flush = () => {
            if (column === null) return;
            if (line.step && !up) out.push('V' + yOf(first) + 'H' + column);
            out.push((up ? 'M' : 'L') + column + ' ' + yOf(low));
            if (high > low) out.push('L' + column + ' ' + yOf(high));
            if (last !== high) out.push('L' + column + ' ' + yOf(last));
            up = false;
            column = null;
        };
        for (let k = from; k <= to; k++) {
            if (Number.isNaN(line.w[k])) { flush(); up = true; continue; }
            const x = Math.round(xOf(line.t[k]));
            if (x !== column) { flush(); column = x; first = low = high = line.w[k]; }
            low = Math.min(low, line.w[k]);
            high = Math.max(high, line.w[k]);
            last = line.w[k];
        }
        flush();
        return out.join('');
    }

    function drawCurves(top) {
        return state.lines.filter(line => line.shown).map(line => makeSvg('path', {
            class: 'curve k' + line.look % 7 + (line.look >= 7 ? ' dashed' : ''),
            d: curvePath(line, top), 'clip-path': 'url(#inside)',
        }));
    }

    function drawBars() {
        const paths = { correct: [], wrong: [], unscored: [], failed: [] };
        state.lanes.forEach((lane, number_) => {
            const y = lanesTop() + number_ * state.laneHeight, h = state.laneHeight - (state.laneHeight > 4 ? 2 : 0.5);
            let drawn = -Infinity;
            for (let k = Math.max(0, firstAfter(lane, state.a, 'sent') - 1); k < lane.length && lane[k].sent <= state.b; k++) {
                const q = lane[k], x0 = Math.max(LEFT, xOf(q.sent)), x1 = Math.min(state.width - RIGHT, xOf(q.end));
                if (x1 < x0 || x1 < drawn + 0.5) continue;
                /* a hair between neighbours, where there is room for one */
                const w = Math.max(0.7, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
                paths[q.verdict].push('M' + x0.toFixed(1) + ' ' + y + 'h' + w.toFixed(1) + 'v' + h + 'h-' + w.toFixed(1) + 'z');
                drawn = x0 + w;
            }
        });
        return Object.keys(paths).map(verdict => makeSvg('path', { class: verdict, d: paths[verdict].join('') }));
    }

    function findBar(row) {
        for (let n = 0; n < state.lanes.length; n++) {
            const q = state.lanes[n].find(x => x.i === row);
            if (q) return { q, lane: n };
        }
        return null;
    }

    function drawSelected() {
        const found = selection.row >= 0 ? findBar(selection.row) : null;
        if (!found || found.q.end < state.a || found.q.sent > state.b) return [];
        const x0 = Math.max(LEFT, xOf(found.q.sent)), x1 = Math.min(state.width - RIGHT, xOf(found.q.end));
        const w = Math.max(2, x1 - x0);
        return [
            makeSvg('rect', { class: 'band', x: x0.toFixed(1), y: TOP, width: w.toFixed(1), height: CURVES }),
            makeSvg('rect', { class: 'mark', x: (x0 - 1).toFixed(1), y: lanesTop() + found.lane * state.laneHeight - 1,
                width: (w + 2).toFixed(1), height: state.laneHeight }),
        ];
    }

    const cross = makeSvg('line', { class: 'cross', visibility: 'hidden' });
    const brush = makeSvg('rect', { class: 'brush', visibility: 'hidden' });

    function draw() {
        state.width = Math.max(240, plot.clientWidth || state.width);
        svg.setAttribute('viewBox', '0 0 ' + state.width + ' ' + height());
        const top = highest();
        const clip = makeSvg('clipPath', { id: 'inside' });
        clip.append(makeSvg('rect', { x: LEFT, y: 0, width: inner(), height: bottom() + 1 }));
        svg.replaceChildren(clip, ...drawAxes(top), ...drawSelected(), ...drawCurves(top), ...drawBars(), brush, cross);
        plot.dataset.view = state.a.toFixed(4) + ' ' + state.b.toFixed(4);
    }

    let asked = false;
    function redraw() {
        if (asked) return;
        asked = true;
        requestAnimationFrame(() => { asked = false; draw(); });
    }

    function drawLegend() {
        byId('legend').replaceChildren(...state.lines.map(line => {
            const button = make('button', '', make('i', 'k' + line.look % 7), line.label);
            button.type = 'button';
            button.setAttribute('aria-pressed', String(line.shown));
            button.addEventListener('click', () => {
                line.shown = !line.shown;
                button.setAttribute('aria-pressed', String(line.shown));
                redraw();
            });
            return button;
        }));
    }

    /* ---- values under the pointer ---- */

    function valueAt(line, t) {
        let k = firstAfter(line.t, t);
        if (line.step) return k < line.t.length ? line.w[k] : NaN;
        if (k > 0 && (k === line.t.length || t - line.t[k - 1] < line.t[k] - t)) k--;
        return k < line.t.length && t >= line.t[0] && t <= line.t[line.t.length - 1] ? line.w[k] : NaN;
    }

    function barAt(x, y) {
        const lane = state.lanes[Math.floor((y - lanesTop()) / state.laneHeight)];
        if (!lane) return null;
        const t = timeAt(x), slack = 4 * (state.b - state.a) / inner();
        const k = firstAfter(lane, t, 'sent');
        return [lane[k - 1], lane[k]].find(q => q && t >= q.sent - slack && t <= q.end + slack) || null;
    }

    function queryAt(t) {
        for (const lane of state.lanes) {
            const q = lane[firstAfter(lane, t, 'sent') - 1];
            if (q && q.end >= t) return q;
        }
        return null;
    }

    function describe(q) {
        const row = rows[q.i];
        return 'Query ' + nameOf(row) + ': ' + VERDICTS[q.verdict].slice(2) + ', ' +
            number(realOf(row, 'joules'), 'J') + ', ' + number(realOf(row, 'seconds'), 's');
    }

    function hover(x, y) {
        if (x < LEFT || x > state.width - RIGHT) return hideTip();
        const t = timeAt(x), q = y >= lanesTop() ? barAt(x, y) : queryAt(t);
        cross.setAttribute('x1', x);
        cross.setAttribute('x2', x);
        cross.setAttribute('y1', TOP);
        cross.setAttribute('y2', height());
        cross.setAttribute('visibility', 'visible');
        const lines = state.lines.filter(line => line.shown).map(line => {
            const value = valueAt(line, t);
            return make('div', '', make('i', 'k' + line.look % 7), line.brief + ': ',
                make('b', '', number(Number.isNaN(value) ? null : value, 'W')));
        });
        tip.replaceChildren(make('b', '', clock(t, (state.b - state.a) / inner(), asClock())), ...lines,
            ...(q ? [make('div', '', describe(q))] : []));
        tip.hidden = false;
        const space = tip.offsetWidth + 14;
        tip.style.left = Math.max(2, x + space < state.width ? x + 12 : x - space) + 'px';
    }

    function hideTip() {
        tip.hidden = true;
        cross.setAttribute('visibility', 'hidden');
    }

    /* ---- zoom ---- */

    function show(a, b) {
        const whole = state.to - state.from, least = Math.min(whole, 0.002);
        let span = Math.min(whole, Math.max(least, b - a));
        const middle = (a + b) / 2;
        a = Math.max(state.from, Math.min(state.to - span, middle - span / 2));
        state.a = a;
        state.b = a + span;
        redraw();
    }
    function zoom(factor, center) {
        const c = center === undefined ? (state.a + state.b) / 2 : center;
        show(c - (c - state.a) * factor, c + (state.b - c) * factor);
    }
    const move = part => show(state.a + part * (state.b - state.a), state.b + part * (state.b - state.a));
    const showAll = () => show(state.from, state.to);

    byId('zoom-in').addEventListener('click', () => zoom(0.5));
    byId('zoom-out').addEventListener('click', () => zoom(2));
    byId('zoom-left').addEventListener('click', () => move(-0.5));
    byId('zoom-right').addEventListener('click', () => move(0.5));
    byId('zoom-all').addEventListener('click', showAll);
    plot.addEventListener('keydown', event => {
        const action = { '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': showAll,
            ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2) }[event.key];
        if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        action();
    });

    function place(event) {
        const box = svg.getBoundingClientRect(), scale = state.width / (box.width || 1);
        return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
    }

    /* A wheel that is scrolling the page goes on scrolling it. */
    let scrolled = -Infinity;
    document.addEventListener('scroll', () => { scrolled = performance.now(); }, { passive: true });
    svg.addEventListener('wheel', event => {
        if (performance.now() - scrolled < 200) return;
        event.preventDefault();
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return move(event.deltaX / 500);
        zoom(Math.pow(1.0015, event.deltaY * (event.deltaMode ? 30 : 1)), timeAt(place(event).x));
    }, { passive: false });

    /* Mouse: drag a stretch to see it, with Shift move. Fingers: one moves, two pinch. */
    const pointers = new Map();
    let drag = null;

    function setBrush(x0, x1) {
        const from = Math.max(LEFT, Math.min(x0, x1)), to = Math.min(state.width - RIGHT, Math.max(x0, x1));
        brush.setAttribute('x', from);
        brush.setAttribute('width', Math.max(0, to - from));
        brush.setAttribute('y', TOP);
        brush.setAttribute('height', CURVES);
        brush.setAttribute('visibility', 'visible');
    }

    function beginDrag() {
        const list = [...pointers.values()];
        drag = { a: state.a, b: state.b, start: list.map(p => ({ ...p })), moved: drag ? drag.moved : false };
    }

    function pinch(list) {
        const [p, q] = drag.start, [u, v] = list;
        const timeThen = x => drag.a + (x - LEFT) / inner() * (drag.b - drag.a);
        const before = Math.max(8, Math.abs(p.x - q.x)), now = Math.max(8, Math.abs(u.x - v.x));
        const span = (drag.b - drag.a) * before / now, center = timeThen((p.x + q.x) / 2);
        const a = center - ((u.x + v.x) / 2 - LEFT) / inner() * span;
        show(a, a + span);
    }

    svg.addEventListener('pointerdown', event => {
        if (event.button !== 0) return;
        pointers.set(event.pointerId, { ...place(event), touch: event.pointerType === 'touch', shift: event.shiftKey });
        svg.setPointerCapture(event.pointerId);
        beginDrag();
    });
    svg.addEventListener('pointermove', event => {
        const at = place(event), held = pointers.get(event.pointerId);
        if (!held) { hover(at.x, at.y); return; }
        Object.assign(held, at);
        const list = [...pointers.values()], start = drag.start[0];
        if (list.length >= 2) { drag.moved = true; hideTip(); pinch(list); return; }
        if (Math.abs(at.x - start.x) > 4) drag.moved = true;
        if (!drag.moved) return;
        if (held.touch || held.shift) {
            const by = (start.x - at.x) / inner() * (drag.b - drag.a);
            hideTip();
            show(drag.a + by, drag.b + by);
        } else {
            setBrush(start.x, at.x);
        }
    });
    function endDrag(event) {
        const held = pointers.get(event.pointerId);
        if (!held) return;
        pointers.delete(event.pointerId);
        brush.setAttribute('visibility', 'hidden');
        if (pointers.size > 0) { beginDrag(); return; }
        const start = drag.start[0], at = place(event), moved = drag.moved;
        drag = null;
        if (event.type === 'pointercancel') return;
        if (!moved) {
            const q = barAt(at.x, at.y);
            hover(at.x, at.y);
            if (q) selection.set(q.i, 'trace');
        } else if (!held.touch && !held.shift) {
            show(timeAt(Math.min(start.x, at.x)), timeAt(Math.max(start.x, at.x)));
        }
    }
    svg.addEventListener('pointerup', endDrag);
    svg.addEventListener('pointercancel', endDrag);
    svg.addEventListener('pointerleave', event => { if (event.pointerType !== 'touch') hideTip(); });
    svg.addEventListener('dblclick', showAll);

    /* ---- the rest of the page ---- */

    function showQuery(row) {
        if (rows[row][COL.run] !== state.run) {
            byId('trace-run').value = String(rows[row][COL.run]);
            open(rows[row][COL.run]);
        }
        const found = findBar(row);
        if (!found) return false;
        const margin = Math.max(0.05, 0.5 * (found.q.end - found.q.sent));
        show(found.q.sent - margin, found.q.end + margin);
        return true;
    }

    selection.listeners.push((row, from) => {
        const found = findBar(row);
        if (from !== 'trace' && found && (found.q.end < state.a || found.q.sent > state.b)) {
            const half = (state.b - state.a) / 2, middle = (found.q.sent + found.q.end) / 2;
            show(middle - half, middle + half);
        }
        redraw();
    });

    const select = byId('trace-run');
    select.append(...data.runs.map((run, i) => {
        const option = make('option', '', run.name);
        option.value = String(i);
        return option;
    }));
    select.addEventListener('change', () => open(Number(select.value)));
    byId('trace-run-label').hidden = data.runs.length < 2;
    byId('trace').hidden = false;
    new ResizeObserver(redraw).observe(plot);
    open(0);
    return { showQuery };
}
