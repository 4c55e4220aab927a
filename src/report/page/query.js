/* One query in full: what was asked, what came back, what it cost. */

function makeQuery() {
    const dialog = byId('query'), bodyElement = byId('query-body');
    let current = -1, parts = null;

    function addText(list, title, row, column) {
        const text = textOf(row, column), cut = cutOf(row, column);
        if (text === null || text === '') return;
        const block = make('pre', '', text);
        block.dir = 'auto';
        list.push(make('h3', '', title), block);
        if (cut) list.push(make('p', 'note', 'Cut here: the whole text has ' + number(cut) +
            ' bytes. ipw export prints it.'));
    }

    function sentence(row, code) {
        const known = data.runs[row[COL.run]].reasons;
        return code + (Object.hasOwn(known, code) ? ': ' + known[code] : '');
    }

    function figures(row) {
        const real = (column, unit) => number(realOf(row, column), unit);
        const source = row[COL.source], energy = bounded(realOf(row, 'joules'), realOf(row, 'low'), realOf(row, 'high'), 'J');
        return [
            ['Verdict', VERDICTS[verdictOf(row)].slice(2), 'v-' + verdictOf(row)],
            ['Energy' + (row[COL.basis] ? ' (' + row[COL.basis] + ')' : ''),
                energy + (source === 'estimated' ? ' ESTIMATED' : '')],
            ['Energy above idle', real('net', 'J')],
            ['Mean power', real('watts', 'W')],
            ['Prefill / decode', real('prefill_j', 'J') + ' / ' + real('decode_j', 'J')],
            ...['gpu', 'cpu', 'dram', 'ane', 'soc'].filter(rail => row[COL[rail]] !== null)
                .map(rail => ['Energy, ' + rail.toUpperCase(), real(rail, 'J')]),
            ['Latency', real('seconds', 's')],
            ['Time to first token', real('ttft', 's')],
            ['Tokens in / out', number(row[COL.input]) + ' / ' + number(row[COL.output])],
            ['Output tokens per second', real('tps', 'tok/s')],
            ['Time between tokens', real('itl', 'ms')],
            ['Sent at', real('sent', 's')],
            ['Finish reason', row[COL.finish] || ABSENT],
            ['Status', (row[COL.status] || ABSENT) + (row[COL.attempts] > 1 ? ', ' + row[COL.attempts] + ' attempts' : '')],
            ['Scorer', row[COL.scorer] || ABSENT],
            ['Measurement', VALIDITY[row[COL.validity]], 'v-' + VALIDITY[row[COL.validity]]],
            ['Coverage', row[COL.coverage] === null ? ABSENT : number(realOf(row, 'coverage') * 100, '%', 1)],
            ['Attribution', row[COL.attribution] || ABSENT],
        ];
    }

    function fill(i) {
        const row = rows[i], list = [];
        current = i;
        byId('query-title').textContent = 'Query ' + nameOf(row) +
            (data.runs.length > 1 ? ' of ' + visible(data.runs[row[COL.run]].name) : '');
        addText(list, 'Error', row, 'error');
        addText(list, 'Prompt', row, 'problem');
        addText(list, 'Answer', row, 'response');
        addText(list, 'Expected', row, 'answer');
        addText(list, 'Thinking', row, 'reasoning');
        addText(list, 'How it was scored', row, 'judgement');
        addText(list, 'Subject', row, 'subject');
        const dl = make('dl', '');
        for (const [term, text, look] of figures(row)) dl.append(make('div', '', make('dt', '', term), make('dd', look || '', text)));
        list.push(make('h3', '', 'Figures'), dl);
        if (row[COL.reasons].length) {
            list.push(make('h3', '', 'Reasons to doubt the measurement'),
                make('ul', 'reasons', ...row[COL.reasons].map(code => make('li', '', sentence(row, code)))));
        }
        bodyElement.replaceChildren(...list);
        byId('query-before').disabled = parts.table.neighbour(i, -1) < 0;
        byId('query-after').disabled = parts.table.neighbour(i, 1) < 0;
        byId('query-trace').hidden = realOf(row, 'sent') === null || realOf(row, 'end') === null;
        dialog.scrollTop = 0;
    }

    function open(i) {
        fill(i);
        if (!dialog.open) dialog.showModal();
    }

    function go(by) {
        const next = parts.table.neighbour(current, by);
        if (next < 0) return;
        selection.set(next, 'table');
        fill(next);
    }

    byId('query-before').addEventListener('click', () => go(-1));
    byId('query-after').addEventListener('click', () => go(1));
    byId('query-close').addEventListener('click', () => dialog.close());
    byId('query-trace').addEventListener('click', () => {
        dialog.close();
        if (parts.trace && parts.trace.showQuery(current)) byId('trace').scrollIntoView({ block: 'start' });
    });
    dialog.addEventListener('click', event => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener('keydown', event => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by) { event.preventDefault(); go(by); }
    });
    dialog.addEventListener('close', () => byId('table').focus({ preventScroll: true }));
    return { open, connect(all) { parts = all; } };
}

const query = makeQuery();
const table = makeTable(i => query.open(i));
const timed = rows.some(row => row[COL.sent] !== null && row[COL.end] !== null);
query.connect({
    table,
    trace: timed || data.runs.some(run => run.lines.length > 0) ? makeTrace() : null,
});
document.documentElement.dataset.ready = 'yes';
