// read_arrow.mjs FILE...: the rows of Arrow IPC streams, one JSON object per line, as npm's
// apache-arrow reads them. Whole numbers are exact however large; what JSON has no number for
// (NaN, infinities) is a string.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { DataType, tableFromIPC } from 'apache-arrow';

export function readTable(path) {
  return tableFromIPC(readFileSync(path));
}

function scalar(value) {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'number':
      if (!Number.isFinite(value)) return `"${value}"`;
      return Object.is(value, -0) ? '-0.0' : String(value);
    case 'boolean':
      return String(value);
    default:
      return JSON.stringify(String(value));
  }
}

// Value i of a vector as JSON text. Members are taken by their number: a name may be anything.
function render(vector, i) {
  if (DataType.isNull(vector.type)) return 'null';
  const value = vector.get(i);
  if (value === null) return 'null';
  if (DataType.isStruct(vector.type)) return object(vector, vector.type.children, i);
  if (DataType.isList(vector.type)) {
    return `[${Array.from({ length: value.length }, (_, k) => render(value, k)).join(',')}]`;
  }
  return scalar(value);
}

function object(vectors, fields, i) {
  const members = fields.map(
    (field, k) => `${JSON.stringify(field.name)}:${render(vectors.getChildAt(k), i)}`);
  return `{${members.join(',')}}`;
}

export function rowLines(table) {
  return Array.from({ length: table.numRows }, (_, i) => object(table, table.schema.fields, i));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const path of process.argv.slice(2)) {
    for (const line of rowLines(readTable(path))) console.log(line);
  }
}
