'use strict';
/* The page's data, and how it is shown. Everything that comes from a run becomes a text node: no
 * function of this page makes markup of text, and the page's policy forbids it besides. */

const data = JSON.parse(document.getElementById('data').textContent);
const rows = data.rows;
const COL = Object.fromEntries(data.columns.map((name, i) => [name, i]));
const ABSENT = '\u2014';
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

const byId = id => document.getElementById(id);

/* Text cannot read otherwise than it is: what would turn or hide it is named instead. */
function visible(text) {
    return text.replace(/\r\n/g, '\n').replace(HIDDEN, c =>
        '[U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + ']');
}

/* make('td', 'class', 'text' or elements...) */
function make(tag, className, ...content) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...content.map(c => typeof c === 'string' ? visible(c) : c));
    return element;
}

function makeSvg(tag, attributes) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    return element;
}

/* A text of a row; one that was cut is [text, bytes of the whole]. */
function textOf(row, column) {
    const value = row[COL[column]];
    return Array.isArray(value) ? value[0] : value;
}
function cutOf(row, column) {
    const value = row[COL[column]];
    return Array.isArray(value) ? value[1] : 0;
}

/* A quantity of a row, null = absent. They are stored in millionths. */
function realOf(row, column) {
    const value = row[COL[column]];
    return value === null ? null : value / 1e6;
}

function grouped(digits) {
    const [whole, part] = digits.split('.');
    const apart = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole;
    return part === undefined ? apart : apart + '.' + part;
}

/* Four digits that count and prefixes for J, W and s, as in the rest of the page. */
function prefixFor(value, unit) {
    const size = Math.abs(value);
    if (!['J', 'W', 's'].includes(unit)) return [1, ''];
    if (unit !== 's' && size >= 1e8) return [1e6, 'M'];
    if (unit !== 's' && size >= 1e5) return [1e3, 'k'];
    if (size > 0 && size < 0.1)
        for (const prefix of [[1e-9, 'n'], [1e-6, '\u00b5'], [1e-3, 'm']]) if (size < 1e3 * prefix[0]) return prefix;
    return [1, ''];
}

function decimalsOf(value) {
    return value ? Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(Math.abs(value))))) : 0;
}

function fixed(value, decimals) {
    const size = Math.abs(value);
    return (value < 0 ? '\u2212' : '') + (size >= 1e12 ? size.toExponential(3) : grouped(size.toFixed(decimals)));
}

function number(value, unit, decimals) {
    if (value === null || !Number.isFinite(value)) return ABSENT;
    const [factor, prefix] = decimals === undefined ? prefixFor(value, unit) : [1, ''], scaled = value / factor;
    return fixed(scaled, decimals !== undefined ? decimals : Number.isInteger(scaled) ? 0 : decimalsOf(scaled)) +
        (unit ? '\u00a0' + prefix + unit : '');
}

function bounded(value, low, high, unit) {
    if (value === null || low === null || high === null) return number(value, unit);
    const [factor, prefix] = prefixFor(value, unit), decimals = decimalsOf(value / factor);
    const [v, a, b] = [value, low, high].map(x => fixed(x / factor, decimals));
    return v + '\u00a0' + prefix + unit + ' (' + a + ' to ' + b + ')';
}

/* 75.2 s; as a clock 1:15, 1:02:30 */
function clock(seconds, step, asClock) {
    const decimals = step < 1 ? Math.min(4, Math.ceil(-Math.log10(step))) : 0;
    const sign = seconds < 0 ? '\u2212' : '', rounded = Number(Math.abs(seconds).toFixed(decimals));
    if (!asClock) return sign + rounded.toFixed(decimals) + '\u00a0s';
    const h = Math.floor(rounded / 3600), m = Math.floor(rounded / 60) % 60, s = rounded % 60;
    const two = x => (x < 10 ? '0' : '') + x;
    return sign + (h ? h + ':' + two(m) : m) + ':' + (s < 10 ? '0' : '') + s.toFixed(decimals);
}

const VALIDITY = ['valid', 'degraded', 'invalid'];
const VERDICTS = {
    correct: '\u2713 correct', wrong: '\u2717 wrong', unscored: '\u2013 not scored', failed: '! failed',
};

function verdictOf(row) {
    if (!row[COL.ok]) return 'failed';
    const correct = row[COL.correct];
    return correct === null ? 'unscored' : correct ? 'correct' : 'wrong';
}

/* Which query is selected; who draws it asks to be told. */
const selection = {
    row: -1,
    listeners: [],
    set(row, from) {
        this.row = row;
        for (const listener of this.listeners) listener(row, from);
    },
};
