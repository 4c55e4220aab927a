// check_writer.mjs JSONL_TO_ARROW FIXTURES: what our writer writes is what npm's apache-arrow reads.
//
// - The records that HuggingFace's library wrote, written by us from the same rows: same schema,
//   same rows as in its file, same features.
// - Values at the edges, compared as text.
// - More rows than one batch.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTable, rowLines } from './read_arrow.mjs';

const [tool, fixtures] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'ipw-arrow-'));

function convert(jsonl, batchRows) {
  const out = join(work, 'out.arrow');
  execFileSync(tool, [jsonl, out, String(batchRows)], { stdio: ['ignore', 'inherit', 'inherit'] });
  return readTable(out);
}

const readLines = (path) => readFileSync(path, 'utf8').split('\n').filter((line) => line !== '');

// Names, types, nullability and nesting.
const shape = (field) => [field.name, String(field.type), field.nullable,
  (field.type.children ?? []).map(shape)];

// {"feature": T, "_type": "List"} and [T] are two spellings of one thing; ours is the second.
function oldSpelling(feature) {
  if (Array.isArray(feature)) return feature.map(oldSpelling);
  if (feature === null || typeof feature !== 'object') return feature;
  if (feature._type === 'List') return [oldSpelling(feature.feature)];
  return Object.fromEntries(Object.entries(feature).map(([k, v]) => [k, oldSpelling(v)]));
}

function checkProfile(name) {
  const rows = readLines(join(fixtures, 'hf', `${name}.jsonl`));
  const theirs = readTable(join(fixtures, 'hf', name, 'data-00000-of-00001.arrow'));
  const info = JSON.parse(readFileSync(join(fixtures, 'hf', name, 'dataset_info.json'), 'utf8'));
  for (const batchRows of [1, 3, 1000]) {
    const ours = convert(join(fixtures, 'hf', `${name}.jsonl`), batchRows);
    assert.equal(ours.batches.length, Math.ceil(rows.length / batchRows), 'number of batches');
    assert.deepEqual(ours.schema.fields.map(shape), theirs.schema.fields.map(shape));
    assert.deepEqual(rowLines(ours), rowLines(theirs));
    assert.deepEqual(rowLines(ours).map((line) => JSON.parse(line)),
      rows.map((line) => JSON.parse(line)));
    // as text, since the order of the members counts
    const metadata = JSON.parse(ours.schema.metadata.get('huggingface'));
    assert.equal(JSON.stringify(metadata.info.features),
      JSON.stringify(oldSpelling(info.features)));
  }
}

function checkEdges() {
  const expected = readLines(join(fixtures, 'arrow', 'edge.expected.jsonl'));
  for (const batchRows of [1, 7, 8, 9, 1000]) {
    const ours = convert(join(fixtures, 'arrow', 'edge.jsonl'), batchRows);
    assert.deepEqual(rowLines(ours), expected);
  }
}

function checkManyRows() {
  const path = join(work, 'many.jsonl');
  const lines = Array.from({ length: 2500 }, (_, i) => JSON.stringify({
    index: i,
    text: i % 11 === 3 ? null : 'é'.repeat(i % 40),
    ratio: i % 13 === 0 ? null : i + 0.5,
    even: i % 2 === 0,
    tags: Array.from({ length: i % 4 }, (_v, k) => `tag ${k}`),
  }));
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  const ours = convert(path, 1000);
  assert.deepEqual(ours.batches.map((batch) => batch.numRows), [1000, 1000, 500]);
  assert.deepEqual(rowLines(ours), lines);
}

function checkNoRows() {
  const path = join(work, 'none.jsonl');
  writeFileSync(path, '');
  assert.equal(convert(path, 10).numRows, 0);
}

try {
  ['profile_1row', 'profile_nogpu', 'profile_seed'].forEach(checkProfile);
  checkEdges();
  checkManyRows();
  checkNoRows();
  console.log('ok');
} finally {
  rmSync(work, { recursive: true });
}
