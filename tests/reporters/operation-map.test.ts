import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { leftOut, undeclaredReason } from '../../harness/report/reason.ts'
import { checkTargetFile } from '../../harness/target/check.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { notBuilt, operationMap, shownMap } from '../../reporters/view/operation-map.ts'
import { whatToDeclare } from '../../reporters/view/next-steps.ts'
import { failed, missed, notApplicable, report, result } from '../gates/results.ts'
import { inTerminal, inHtml } from './shown.ts'

const declare = (id: string) =>
  undeclaredReason([[`operations.${id}.body`]], `{"operations": {"${id}": {"body": {}}}}`)
const absent = ['chat.create', 'translate.run', 'graphs.create', 'graphs.query', 'vision.analyze']
/** One built, one of which only a `should` failed, one failing, one whose keys alone were looked at, one declared away, five absent. */
const half = report(
  [
    result('files.list/2xx-accepted'),
    missed('files.list/2xx-file-types'),
    result('files.retrieve/2xx-accepted'),
    { ...failed('files.retrieve/404-unknown-file'), level: 'should' },
    failed('jobs.create/202-created'),
    result('completion.create/401-invalid-key'),
    missed('completion.create/2xx-accepted', declare('completion.create')),
    notApplicable('pdf.parse/200-content'),
    ...absent.map((id) => missed(`${id}/2xx-accepted`, declare(id))),
  ],
  { absent: absent.map((operation) => ({ operation, answered: '404 <i>Cannot POST</i>' })) },
)

test('an operation works if more than its authentication passed, fails if a required check failed, and is not built or declared not served otherwise', () => {
  const states = Object.fromEntries(
    operationMap(half).map(({ operation, state }) => [operation, state]),
  )
  expect(states).toMatchObject({
    'files.list': 'working',
    'files.retrieve': 'working',
    'jobs.create': 'failing',
    'completion.create': 'only authentication tested',
    'pdf.parse': 'not served',
    'chat.create': 'not built',
    'jobs.retrieve': 'not tested',
  })
  expect(Object.keys(states)).toEqual(operations.map(({ id }) => id))
})

test('the part to paste keeps what is there and has no entry, and is a right target file', () => {
  const { part } = notBuilt(half)!
  expect(Object.keys(part.operations as object)).toEqual(
    expect.arrayContaining(['files.list', 'completion.create', '*']),
  )
  expect(part.operations).not.toHaveProperty('jobs.create')
  expect(part.operations).not.toHaveProperty('chat.create')
  expect(checkTargetFile(part, 't.json')).toBe(part)
  const few = { ...half, run: { ...half.run, absent: half.run.absent!.slice(0, 2) } }
  expect(notBuilt(few)!.part).toEqual({
    operations: { 'chat.create': 'not-served', 'translate.run': 'not-served' },
  })
})

test('what is not there is reported before everything else, and nothing of it is to be declared', async () => {
  expect(whatToDeclare(half).flatMap(({ ids }) => ids)).toEqual(['completion.create/2xx-accepted'])
  const text = inTerminal(half)
  expect(text).toMatch(
    /^10 operations: 1 failing, 2 working, 1 only authentication tested, 5 not built, 1 not served$/m,
  )
  expect(text).toContain('"*": "not-served"')
  expect(renderMarkdown(half)).toMatch(/\n1\. Build the 5 missing operations/)
  const html = await inHtml(half)
  expect(html).toContain('<li><p>Build the 5 missing operations')
  expect(html).not.toContain('<i>Cannot POST')
})

test('what an option left out is not on the map, also if it does not apply anyway', () => {
  const only = ['jobs.create/*', 'translate.run/*']
  const rows = [
    result('jobs.create/202-created'),
    result('translate.run/2xx-accepted'),
    missed('files.list/2xx-accepted', leftOut('--only')),
    notApplicable('pdf.parse/4xx-removed'),
  ]
  expect(shownMap(report(rows, { only }))?.map(({ operation }) => operation)).toEqual([
    'jobs.create',
    'translate.run',
  ])
})

test('of a run that was to look at one operation, or learned nothing, there is no map', () => {
  expect(shownMap(report([result('files.list/2xx-accepted')]))).toBeUndefined()
  const others = operations.map(({ id }) => missed(`${id}/2xx-accepted`, leftOut('--only')))
  expect(shownMap(report([...others.slice(1), failed('pdf.parse/200-content')]))).toBeUndefined()
  expect(
    shownMap(report(operations.map(({ id }) => missed(`${id}/2xx-accepted`, 'no key: give it')))),
  ).toBeUndefined()
})
