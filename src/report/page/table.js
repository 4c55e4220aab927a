/* The table of queries: only the rows in sight are in the document, so ten thousand scroll as ten
 * do. Sorting and filtering work on a list of row numbers. */

function nameOf(row) {
    return row[COL.index] === null ? '?' : String(row[COL.index] + 1);
}

/* One line of a text, short. */
function brief(text) {
    return text ? visible(text.slice(0, 240).replace(/\s+/g, ' ')) : ABSENT;
}

const COLUMNS = [
    { id: 'index', head: '#', number: true, value: row => row[COL.index], text: nameOf },
    { id: 'run', head: 'Run', several: true, value: row => row[COL.run], text: row => data.runs[row[COL.run]].name },
    { id: 'problem', head: 'Prompt', value: row => textOf(row, 'problem'), text: row => brief(textOf(row, 'problem')) },
    { id: 'response', head: 'Answer', value: row => textOf(row, 'response'), text: row => brief(textOf(row, 'response')) },
    { id: 'verdict', head: 'Verdict', value: row => Object.keys(VERDICTS).indexOf(verdictOf(row)),
        text: row => VERDICTS[verdictOf(row)], look: row => 'v-' + verdictOf(row) },
    { id: 'energy', head: 'Energy', number: true, value: row => row[COL.joules],
        text: row => number(realOf(row, 'joules'), 'J') },
    { id: 'seconds', head: 'Latency', number: true, value: row => row[COL.seconds],
        text: row => number(realOf(row, 'seconds'), 's') },
    { id: 'ttft', head: 'TTFT', number: true, value: row => row[COL.ttft], text: row => number(realOf(row, 'ttft'), 's') },
    { id: 'output', head: 'Tokens', number: true, value: row => row[COL.output], text: row => number(row[COL.output]) },
    { id: 'validity', head: 'Measured', value: row => row[COL.validity], text: row => VALIDITY[row[COL.validity]],
        look: row => 'v-' + VALIDITY[row[COL.validity]] },
].filter(column => !column.several || data.runs.length > 1);

function makeTable(openQuery) {
    const scroller = byId('scroller'), grid = byId('table'), body = byId('body'), search = byId('search');
    const ROW = 37, AROUND = 12, PRINTED = 200; /* a row with its border; rows drawn out of sight */
    let order = [], sort = { column: COLUMNS[0], down: false }, printing = false;

    function compare(column, down) {
        return (i, k) => {
            const a = column.value(rows[i]), b = column.value(rows[k]);
            /* what is absent is last, whichever way */
            if (a === null || b === null) return (a === null) - (b === null) || i - k;
            const by = typeof a === 'string' ? (a < b ? -1 : a > b ? 1 : 0) : a - b;
            return (down ? -by : by) || i - k;
        };
    }

    function wanted() {
        const words = search.value.toLowerCase(), verdict = byId('by-verdict').value;
        const validity = byId('by-validity').value, run = byId('by-run').value;
        return row => (!verdict || verdictOf(row) === verdict) &&
            (!validity || row[COL.validity] === Number(validity)) &&
            (!run || row[COL.run] === Number(run)) &&
            (!words || ['problem', 'response', 'answer', 'subject', 'error'].some(column => {
                const text = textOf(row, column);
                return text && text.toLowerCase().includes(words);
            }));
    }

    function arrange() {
        const test = wanted();
        order = [];
        for (let i = 0; i < rows.length; i++) if (test(rows[i])) order.push(i);
        order.sort(compare(sort.column, sort.down));
        byId('shown').textContent = order.length === rows.length ? number(rows.length) + ' queries'
            : number(order.length) + ' of ' + number(rows.length) + ' queries';
        grid.setAttribute('aria-rowcount', String(order.length + 1));
        renderAnew();
    }

    function makeRow(place) {
        const i = order[place], row = rows[i];
        const tr = make('tr', 'row' + (i === selection.row ? ' selected' : ''), ...COLUMNS.map(column =>
            make('td', 'w-' + column.id + (column.number ? ' number' : '') + (column.look ? ' ' + column.look(row) : ''),
                column.text(row))));
        tr.id = 'row-' + i;
        tr.setAttribute('aria-rowindex', String(place + 2));
        if (i === selection.row) tr.setAttribute('aria-selected', 'true');
        return tr;
    }

    /* Rows that are in sight stay as they are; what comes in is made, what goes out is dropped. */
    const above = make('tr', 'space', make('td', '')), below = make('tr', 'space', make('td', ''));
    for (const space of [above, below]) space.setAttribute('aria-hidden', 'true');
    const drawn = new Map(); /* place in the order -> row */

    function setSpace(space, count) {
        space.firstChild.style.height = count * ROW + 'px';
        space.hidden = count === 0;
    }

    function render() {
        const last = printing ? Math.min(order.length, PRINTED)
            : Math.min(order.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / ROW) + AROUND);
        const first = printing ? 0 : Math.min(last, Math.max(0, Math.floor(scroller.scrollTop / ROW) - AROUND));
        for (const [place, tr] of drawn) {
            if (place >= first && place < last) continue;
            tr.remove();
            drawn.delete(place);
        }
        setSpace(above, first);
        setSpace(below, printing ? 0 : order.length - last);
        for (let place = last - 1, next = below; place >= first; place--) {
            if (!drawn.has(place)) {
                drawn.set(place, makeRow(place));
                next.before(drawn.get(place));
            }
            next = drawn.get(place);
        }
        const active = byId('row-' + selection.row);
        if (active) grid.setAttribute('aria-activedescendant', active.id);
        else grid.removeAttribute('aria-activedescendant');
    }

    function renderAnew() {
        drawn.clear();
        body.replaceChildren(above, below);
        render();
    }

    body.addEventListener('click', event => {
        const tr = event.target.closest('tr.row');
        if (!tr) return;
        const i = Number(tr.id.slice('row-'.length));
        selection.set(i, 'table');
        openQuery(i);
    });

    let asked = false;
    function redraw() {
        if (asked) return;
        asked = true;
        requestAnimationFrame(() => { asked = false; render(); });
    }

    function reveal(row) {
        const place = order.indexOf(row), head = byId('heads').offsetHeight;
        if (place < 0) return false;
        const top = place * ROW, room = scroller.clientHeight - head;
        if (top < scroller.scrollTop) scroller.scrollTop = top;
        else if (top + ROW > scroller.scrollTop + room) scroller.scrollTop = top + ROW - room;
        return true;
    }

    function makeHeads() {
        byId('heads').replaceChildren(...COLUMNS.map(column => {
            const mark = sort.column === column ? (sort.down ? ' \u25be' : ' \u25b4') : '';
            const button = make('button', '', column.head + mark);
            const th = make('th', 'w-' + column.id + (column.number ? ' number' : ''), button);
            button.type = 'button';
            th.scope = 'col';
            th.setAttribute('aria-sort', !mark ? 'none' : sort.down ? 'descending' : 'ascending');
            button.addEventListener('click', () => {
                sort = { column, down: sort.column === column && !sort.down };
                makeHeads();
                byId('heads').children[COLUMNS.indexOf(column)].firstChild.focus();
                scroller.scrollTop = 0;
                arrange();
            });
            return th;
        }));
    }

    /* The query `by` places further in the table as it is shown; -1 = there is none. */
    function neighbour(row, by) {
        const place = order.indexOf(row) + by;
        return order.includes(row) && place >= 0 && place < order.length ? order[place] : -1;
    }

    grid.addEventListener('keydown', event => {
        if (event.target !== grid || order.length === 0) return;
        const page = Math.max(1, Math.floor(scroller.clientHeight / ROW) - 2), place = order.indexOf(selection.row);
        const to = { ArrowDown: place + 1, ArrowUp: Math.max(0, place) - 1, PageDown: place + page, PageUp: place - page,
            Home: 0, End: order.length - 1 }[event.key];
        if (event.key === 'Enter' && place >= 0) {
            event.preventDefault();
            openQuery(selection.row);
        } else if (to !== undefined) {
            event.preventDefault();
            selection.set(order[Math.max(0, Math.min(order.length - 1, to))], 'table');
        }
    });
    scroller.addEventListener('scroll', redraw, { passive: true });
    new ResizeObserver(redraw).observe(scroller);

    let pause = 0;
    search.addEventListener('input', () => {
        clearTimeout(pause);
        pause = setTimeout(arrange, 120);
    });
    for (const id of ['by-verdict', 'by-validity', 'by-run'])
        byId(id).addEventListener('change', () => { scroller.scrollTop = 0; arrange(); });

    selection.listeners.push((row, from) => {
        if (from === 'trace' && !order.includes(row)) { /* it is filtered away: show all */
            search.value = '';
            for (const id of ['by-verdict', 'by-validity', 'by-run']) byId(id).value = '';
            arrange();
        }
        reveal(row);
        renderAnew();
    });

    window.addEventListener('beforeprint', () => {
        printing = true;
        renderAnew();
        if (order.length > PRINTED)
            body.append(make('tr', '', Object.assign(make('td', '', 'The first ' + PRINTED + ' of ' +
                number(order.length) + ' queries are printed.'), { colSpan: 3 })));
    });
    window.addEventListener('afterprint', () => { printing = false; renderAnew(); });

    byId('by-run').append(...data.runs.map((run, i) => {
        const option = make('option', '', run.name);
        option.value = String(i);
        return option;
    }));
    byId('by-run-label').hidden = data.runs.length < 2;
    byId('table-area').hidden = false;
    makeHeads();
    arrange();
    return { neighbour };
}
