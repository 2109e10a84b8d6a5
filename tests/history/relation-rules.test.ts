/** Every rule about created objects as a table of histories: no server, no clock. */
import { describe, expect, test } from 'vitest'
import { type RelationId, relationRule } from '../../suites/relation-rules.ts'
import { objectsOf } from './object-stories.ts'

type Outcome = 'held' | 'broken' | 'open'
type Row = readonly [what: string, live: Outcome, recorded: Outcome, story: string]

const inGraph = 'graphs.add-file/409-already-in-graph'
/** A creation after the same one was refused by that fault, and one beside. */
const looks = (fault: string, said: string, ...names: readonly string[]): string =>
  names
    .map(
      (name, at) => `
      ${at * 100} create ${name}/${fault}: ${fault === 'type' ? 400 : 401}
      ${at * 100 + 10} create ${name}: ${said}
      ${at * 100 + 20} create plain${at}: 200 p${at}`,
    )
    .join('\n')
/** What came to a creation that exists behind the request that is suspected. */
const behind = (...said: readonly string[]): string =>
  said.map((one, at) => `${50 + at * 10} create tea: ${one} {"isBehind":true}`).join('\n')
/** Turns of a creation that exists, throttled each time, and a fresh one. */
const turns = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `
    ${10 + at * 20} create tea: 429 QuotaExceeded
    ${20 + at * 20} create fresh${at}: 200 n${at}`,
  ).join('\n')

/** Those of applications are those of graphs. */
const table: Readonly<Partial<Record<RelationId, readonly Row[]>>> = {
  'graphs.create/2xx-own-id': [
    ['two ids', 'held', 'held', '0 create a: 200 g1\n10 create b: 200 g2'],
    ['one id for two', 'broken', 'broken', '0 create a: 200 g1\n10 create b: 200 g1'],
    ['of one moment', 'broken', 'broken', '0-9 create a: 200 g1\n1-9 create b: 200 g1'],
    ['a single one', 'open', 'open', '0 create a: 200 g1'],
    ['no ids', 'open', 'open', '0 create a: 200\n10 create b: 200'],
    [
      'one id in two accounts',
      'broken',
      'held',
      '0 create a: 200 g1 {"key":"one"}\n10 create b: 200 g1 {"key":"two"}\n20 create c: 200 g2',
    ],
  ],
  'files.upload/2xx-own-id': [
    [
      'one id for other bytes',
      'broken',
      'broken',
      '0 upload a.txt: 200 f1\n9 upload b.txt: 200 f1',
    ],
    [
      'one id for the same bytes',
      'held',
      'held',
      '0 upload a.txt: 200 f1 {"content":"x"}\n9 upload b.txt: 200 f1 {"content":"x"}',
    ],
  ],
  'graphs.create/400-duplicate-name': [
    ['a 400', 'held', 'held', '0 create tea: 200 g1\n10 create tea: 400'],
    ['a second one', 'broken', 'broken', '0 create tea: 200 g1\n10 create tea: 200 g2'],
    ['another status', 'broken', 'broken', '0 create tea: 200 g1\n10 create tea: 409 Conflict'],
    [
      'granted the third time',
      'broken',
      'broken',
      '0 create tea: 200 g1\n10 create tea: 400\n20 create tea: 200 g2',
    ],
    ['a breakdown', 'broken', 'open', '0 create tea: 200 g1\n10 create tea: 500 InternalError'],
    ['another request', 'open', 'open', '0 create tea: 200 g1\n10 create tea: 422 {"content":"x"}'],
    ['without a key', 'open', 'open', '0 create tea: 200 g1\n10 create tea/401: 401'],
    [
      'sent before it was made',
      'open',
      'open',
      '0-20 create tea: 200 g1\n10-30 create tea: 200 g2',
    ],
    ['a lost answer', 'open', 'open', '0 create tea: 200 g1\n10 create tea: -'],
    ['a limit', 'open', 'open', '0 create tea: 200 g1\n10 create tea: 429 QuotaExceeded'],
    ['a limit, twice', 'open', 'open', `0 create tea: 200 g1\n${turns(2)}`],
    ['a limit each time', 'broken', 'open', `0 create tea: 200 g1\n${turns(3)}`],
    [
      'wrong behind another request alone',
      'held',
      'held',
      `0 create tea: 200 g1\n10 create tea: 200 g2 {"isFirst":false}
      20 create tea: 400\n30 create tea: 400\n40 create tea: 400
      ${behind('200 g2', '200 g2', '200 g2', '200 g2')}`,
    ],
    [
      'wrong once, on a connection of others',
      'broken',
      'broken',
      `0 create tea: 200 g1\n10 create tea: 200 g2 {"isFirst":false}
      20 create tea: 400\n30 create tea: 400\n40 create tea: 400`,
    ],
    [
      'wrong once, and right behind the same request',
      'broken',
      'broken',
      `0 create tea: 200 g1\n10 create tea: 200 g2 {"isFirst":false}
      20 create tea: 400\n30 create tea: 400\n40 create tea: 400
      ${behind('400')}`,
    ],
    [
      'wrong now and then',
      'broken',
      'broken',
      `0 create tea: 200 g1\n10 create tea: 200 g2 {"isFirst":false}
      20 create tea: 400\n30 create tea: 200 g3\n40 create tea: 400`,
    ],
    ['long after', 'broken', 'open', '0 create tea: 200 g1\n70000 create tea: 200 g2'],
    [
      'after a request that may have removed it',
      'broken',
      'open',
      '0 create tea: 200 g1\nother 8\n10 create tea: 200 g2',
    ],
  ],
  [inGraph]: [
    ['a 409', 'held', 'held', '0 add f1>g1: 200\n10 add f1>g1: 409'],
    ['taken again at once', 'open', 'open', '0 add f1>g1: 200\n10 add f1>g1: 200'],
    ['taken after its time', 'broken', 'broken', '0 add f1>g1: 200\n5010 add f1>g1: 200'],
    [
      'taken soon after it was refused',
      'held',
      'held',
      '0 add f1>g1: 200\n10 add f1>g1: 409\n20 add f1>g1: 200',
    ],
    [
      'taken late after it was refused',
      'broken',
      'broken',
      '0 add f1>g1: 200\n10 add f1>g1: 409\n5010 add f1>g1: 200',
    ],
    ['another status', 'broken', 'broken', '0 add f1>g1: 200\n10 add f1>g1: 400'],
    ['not there yet', 'open', 'open', '0 add f1>g1: 200\n10 add f1>g1: 404 ResourceNotFound'],
    [
      'a graph that is gone',
      'held',
      'held',
      '0 create tea: 200 g1\n10 add f1>g1: 200\n20 add f1>g1: 409\n5040 add f1>g1: 404 ResourceNotFound',
    ],
    ['another graph', 'open', 'open', '0 add f1>g1: 200\n5010 add f1>g2: 200'],
    [
      'since it was added to another graph',
      'open',
      'open',
      '0 add f1>g1: 200\n5010 add f1>g2: 200\n5020 add f1>g1: 200',
    ],
    [
      'another file of the same name',
      'held',
      'held',
      `0 upload a.txt: 200 f1\n10 add f1>g1: 200\n20 add f1>g1: 409
      30 upload a.txt: 200 f2 {"content":"b"}\n40 add f2>g1: 200`,
    ],
    [
      'another file of the same name, refused as a duplicate',
      'broken',
      'held',
      `0 upload a.txt: 200 f1\n10 add f1>g1: 200\n20 add f1>g1: 409
      30 upload a.txt: 200 f2 {"content":"b"}\n40 add f2>g1: 409\n5040 add f2>g1: 409
      5050 upload c.txt: 200 f3\n5060 add f3>g1: 200`,
    ],
    [
      'such a file in a graph that takes no more',
      'held',
      'held',
      `0 upload a.txt: 200 f1\n10 add f1>g1: 200\n20 add f1>g1: 409
      30 upload a.txt: 200 f2 {"content":"b"}\n40 add f2>g1: 409\n5040 add f2>g1: 409`,
    ],
    ['a file that was there', 'held', 'open', '0 add f1>g1: 409\n10 add f1>g1: 409'],
  ],
  'graphs.create/400-atomic': [
    ['one of two', 'held', 'held', '0-9 create tea: 200 g1\n1-9 create tea: 400'],
    ['both', 'broken', 'broken', '0-9 create tea: 200 g1\n1-9 create tea: 200 g2'],
    ['one after the other', 'open', 'open', '0 create tea: 200 g1\n10 create tea: 200 g2'],
    ['none', 'open', 'open', '0-9 create tea: 400\n1-9 create tea: 400'],
    [
      'a breakdown, once',
      'held',
      'held',
      '0-9 create tea: 200 g1\n1-9 create tea: 500 InternalError',
    ],
    [
      'a breakdown each time',
      'broken',
      'broken',
      `0-9 create tea: 200 g1\n1-9 create tea: 500 InternalError
      20-29 create mint: 200 g2\n21-29 create mint: 500 InternalError`,
    ],
    ['a lost answer', 'open', 'open', '0-9 create tea: -\n1-9 create tea: 400'],
  ],
  'graphs.create/4xx-no-effect': [
    ['granted after a 401', 'held', 'held', '0 create tea/401: 401\n10 create tea: 200 g1'],
    [
      'granted after another label',
      'held',
      'held',
      '0 create tea/type: 400\n10 create tea: 200 g1',
    ],
    ['refused three times', 'broken', 'open', looks('401', '400', 'a', 'b', 'c')],
    ['refused twice', 'open', 'open', looks('401', '400', 'a', 'b')],
    ['refused for other reasons', 'open', 'open', looks('401', '403', 'a', 'b', 'c')],
    [
      'granted once among three',
      'held',
      'held',
      `${looks('401', '400', 'a', 'b')}\n900 create c/401: 401\n910 create c: 200 g3`,
    ],
    [
      'nothing else is granted either',
      'open',
      'open',
      looks('401', '400', 'a', 'b', 'c').replaceAll(/(plain\d): 200 p\d/g, '$1: 400'),
    ],
    [
      'a lost answer before',
      'open',
      'open',
      looks('401', '400', 'a', 'b', 'c').replaceAll(
        /(\d+)0 create (a|b|c): 400/g,
        '$15 create $2: -\n$18 create $2: 400',
      ),
    ],
    ['nothing came after it', 'open', 'open', '0 create tea/401: 401'],
    [
      'refused once its answer was lost',
      'held',
      'held',
      '0 create tea/401: -\n5 create tea/401: 401\n10 create tea: 200 g1',
    ],
    ['granted without a key', 'open', 'open', '0 create tea/401: 200 g1\n10 create tea: 400'],
  ],
  'graphs.add-file/4xx-no-effect': [
    ['granted after a 401', 'held', 'held', '0 add f1>g1/401: 401\n10 add f1>g1: 200'],
  ],
  'graphs.create/2xx-usable': [
    ['used at once', 'held', 'held', '0 create tea: 200 g1\n10 query g1: 200'],
    ['refused as a request', 'held', 'held', '0 create tea: 200 g1\n10 query g1: 400'],
    ['not there yet', 'open', 'open', '0 create tea: 200 g1\n10 query g1: 404 ResourceNotFound'],
    [
      'never there',
      'broken',
      'broken',
      '0 create tea: 200 g1\n5010 query g1: 404 ResourceNotFound',
    ],
    ['said to be gone', 'broken', 'open', '0 create tea: 200 g1\n5010 query g1: 410 Gone'],
    [
      'gone later',
      'broken',
      'held',
      '0 create tea: 200 g1\n10 query g1: 200\n5010 query g1: 404 ResourceNotFound',
    ],
    ['a breakdown', 'broken', 'open', '0 create tea: 200 g1\n5010 query g1: 500 InternalError'],
    [
      'a passing breakdown',
      'held',
      'held',
      '0 create tea: 200 g1\n5010 query g1: 500 InternalError\n5020 query g1: 200',
    ],
    [
      'the declared one is not there either',
      'open',
      'open',
      '0 query g0: 404\n5 create tea: 200 g1\n5020 query g1: 404 ResourceNotFound',
    ],
    [
      'but the declared one is',
      'broken',
      'broken',
      '0 query g0: 200\n5 create tea: 200 g1\n5020 query g1: 404 ResourceNotFound',
    ],
    [
      'a file that is not there yet',
      'open',
      'open',
      '0 create tea: 200 g1\n5000 upload a.txt: 200 f1\n5010 add f1>g1: 404 ResourceNotFound',
    ],
    ['a limit', 'open', 'open', '0 create tea: 200 g1\n5010 query g1: 503 ServiceUnavailable'],
    [
      'after a request that may have removed it',
      'broken',
      'open',
      '0 create tea: 200 g1\nother 8\n5010 query g1: 404 ResourceNotFound',
    ],
  ],
  'files.upload/2xx-retrievable': [
    ['retrieved', 'held', 'held', '0 upload a.txt: 200 f1\n10 get f1: 200'],
    [
      'never found',
      'broken',
      'broken',
      '0 upload a.txt: 200 f1\n5010 get f1: 404 ResourceNotFound',
    ],
    ['not found yet', 'open', 'open', '0 upload a.txt: 200 f1\n10 get f1: 404 ResourceNotFound'],
    ['no right to any', 'open', 'open', '0 upload a.txt: 200 f1\n5010 get f1: 403'],
    [
      'no right to its own',
      'broken',
      'open',
      '0 get f0: 200\n5 upload a.txt: 200 f1\n5010 get f1: 403',
    ],
    ['no answer, once', 'open', 'open', '0 upload a.txt: 200 f1\n10 get f1: -'],
    ['no answer to any', 'broken', 'open', '0 upload a.txt: 200 f1\n10 get f1: -\n20 get f1: -'],
    [
      'an answer among them',
      'held',
      'held',
      '0 upload a.txt: 200 f1\n10 get f1: -\n20 get f1: 200',
    ],
    [
      'asked for with another key',
      'broken',
      'open',
      '0 upload a.txt: 200 f1\n5010 get f1: 404 ResourceNotFound {"key":"another"}',
    ],
  ],
  'files.upload/2xx-attached-to-graph': [
    ['a 409', 'held', 'held', '0 upload a.txt>g1: 200 f1\n10 add f1>g1: 409'],
    ['not processed yet', 'open', 'open', '0 upload a.txt>g1: 200 f1\n10 add f1>g1: 200'],
    ['added after its time', 'broken', 'broken', '0 upload a.txt>g1: 200 f1\n5010 add f1>g1: 200'],
    [
      'added before, and after its time',
      'open',
      'open',
      '0 upload a.txt>g1: 200 f1\n10 add f1>g1: 200\n5010 add f1>g1: 200',
    ],
    [
      'a lost addition before',
      'open',
      'open',
      '0 upload a.txt>g1: 200 f1\n8 add f1>g1: -\n5010 add f1>g1: 409',
    ],
    [
      'a throttled addition before',
      'held',
      'held',
      '0 upload a.txt>g1: 200 f1\n8 add f1>g1: 429\n10 add f1>g1: 409',
    ],
    ['refused by another status', 'open', 'open', '0 upload a.txt>g1: 200 f1\n5010 add f1>g1: 400'],
    [
      'refused by another status than a plain file',
      'broken',
      'broken',
      `0 upload a.txt>g1: 200 f1\n5010 add f1>g1: 400
      5020 upload b.txt: 200 f2\n5030 add f2>g1: 200`,
    ],
    [
      'in another graph, too',
      'broken',
      'broken',
      `0 upload a.txt>g1: 200 f1\n10 add f1>g1: 409\n20 add f1>g2: 409
      30 upload b.txt: 200 f2\n40 add f2>g1: 200\n50 add f2>g2: 200\n5060 add f1>g2: 409`,
    ],
    [
      'a server whose files are in one graph alone',
      'held',
      'held',
      `0 upload a.txt>g1: 200 f1\n10 add f1>g1: 409\n20 add f1>g2: 409
      30 upload b.txt: 200 f2\n40 add f2>g1: 200\n50 add f2>g2: 409\n5060 add f1>g2: 409`,
    ],
  ],
  'files.list/2xx-filtered': [
    [
      'in its own list alone',
      'held',
      'held',
      '0 upload a.txt: 200 f1\n10 list txt: 200 {"body":{"data":[{"id":"f1"}]}}\n20 list pdf: 200 {"body":{"data":[]}}',
    ],
    [
      'in that of another type',
      'broken',
      'broken',
      '0 upload a.txt: 200 f1\n10 list txt: 200 {"body":{"data":[{"id":"f1"}]}}\n20 list pdf: 200 {"body":{"data":[{"id":"f1"}]}}',
    ],
    [
      'at another member there',
      'held',
      'held',
      '0 upload a.txt: 200 f1\n10 list txt: 200 {"body":{"data":[{"id":"f1"}]}}\n20 list pdf: 200 {"body":{"data":[],"after":"f1"}}',
    ],
    [
      'in no list of its own',
      'open',
      'open',
      '0 upload a.txt: 200 f1\n10 list txt: 200 {"body":{"data":[]}}\n20 list pdf: 200 {"body":{"data":[{"id":"f1"}]}}',
    ],
    [
      'listed with its own type among others',
      'open',
      'open',
      '0 upload a.txt: 200 f1\n10 list txt: 200 {"body":[{"id":"f1"}]}\n20 list pdf,txt: 200 {"body":[{"id":"f1"}]}',
    ],
  ],
  'files.retrieve/2xx-own-record': [
    [
      'two records',
      'held',
      'held',
      '0 upload a.txt: 200 f1\n5 upload b.txt: 200 f2\n10 get f1: 200 {"body":{"id":"f1"}}\n20 get f2: 200 {"body":{"id":"f2"}}',
    ],
    [
      'one record for two files',
      'broken',
      'broken',
      '0 upload a.txt: 200 f1\n5 upload b.txt: 200 f2\n10 get f1: 200 {"body":{"id":"f2"}}\n20 get f2: 200 {"body":{"id":"f2"}}',
    ],
    [
      'answers that say nothing',
      'open',
      'open',
      '0 upload a.txt: 200 f1\n5 upload b.txt: 200 f2\n10 get f1: 200 {"body":{"ok":true}}\n20 get f2: 200 {"body":{"ok":true}}',
    ],
    [
      'the same bytes',
      'open',
      'open',
      '0 upload a.txt: 200 f1 {"content":"x"}\n5 upload b.txt: 200 f2 {"content":"x"}\n10 get f1: 200 {"body":{"size":1}}\n20 get f2: 200 {"body":{"size":1}}',
    ],
  ],
}

const all = Object.entries(table) as [RelationId, readonly Row[]][]

describe.each(all)('%s', (id, rows) => {
  test.each(rows)('%s', (_, live, recorded, story) => {
    const outcomes = [false, true].map((is) => relationRule(id)(objectsOf(story, is)).outcome)
    expect(outcomes).toEqual([live, recorded])
  })
})
