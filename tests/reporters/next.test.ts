/** What a report says to do next: what to fix, to build, to declare, to run. */
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { added } from '../../cli/init/starter.ts'
import { leftOut, targetReason, undeclaredReason } from '../../harness/report/reason.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { checkTargetFile } from '../../harness/target/check.ts'
import { isDeclared, missingReason } from '../../harness/target/declared.ts'
import type { TargetFile } from '../../harness/target/target-file.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { gainOf, nextSteps, usualPart, whatToDeclare } from '../../reporters/view/next-steps.ts'
import { notBuilt, operationMap, shownMap } from '../../reporters/view/operation-map.ts'
import { mergePatch } from '../../schemas/json.ts'
import { failed, missed, notApplicable, report, result } from '../gates/results.ts'
import { hostile } from './hostile.ts'
import { inHtml, inTerminal } from './samples.ts'

const expired = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
const dead = targetReason('http://127.0.0.1:1', 'connection refused')
const again = 'Run only what failed'

test.each<[what: string, of: Report, texts: string[]]>([
  ['a run in which all is well', report([result('a.b/1')]), []],
  ['recorded traffic', report([failed('a.b/1')], { runs: 0 }), ['Fix a.b/1']],
  [
    'a target that is dead, as the last line says',
    report(
      [missed('a.b/1', dead), missed('a.b/2', dead), missed('a.b/3', expired)],
      { statuses: [503, 502].map((status) => ({ status, times: 1 })) },
      { notJudged: dead.reason },
    ),
    [],
  ],
  [
    'a base URL that is wrong, then operations that are not built, then failures',
    report([failed('files.list/1'), failed('files.list/2')], {
      absent: [{ operation: 'chat.create', answered: '404' }],
      hints: ['check the base URL'],
    }),
    [
      'Check the base URL',
      'Build chat.create (received 404), or declare what you do not offer:',
      again,
    ],
  ],
  [
    'one error everywhere',
    {
      ...report([failed('a.b/1')], { statuses: [{ status: 500, times: 9 }] }, { notJudged: 'x' }),
      verdict: 'not-judged',
    },
    ['Find this error in the log of the server, fix it, and run again'],
  ],
])('next of %s', (_, of, texts) => {
  expect(nextSteps(of).map(({ text }) => text)).toEqual(texts)
})

test('next is to run again what failed, by the command of the run', () => {
  const commandOf = (of: Report) => nextSteps(of)[1]
  const of = report([failed('a.b/1')], { command: 'conform -t t.json' })
  expect(commandOf(of)).toEqual({ text: again, command: 'conform -t t.json --failed' })
  // A report by itself knows the command from its failures.
  expect(commandOf(report([failed('a.b/1')]))!.command).toBe('conform https://example.com --failed')
})

test('every page has the steps beside the verdict, and says nothing about what a dead server lacks', async () => {
  const of = report([failed('a.b/1')])
  const markdown = renderMarkdown(of)
  expect(markdown).toMatch(
    /\*\*Next\*\*\n\n1\. Fix a\.b\/1\n2\. Run only what failed[^]*\| \| passed/,
  )
  const html = await inHtml(of)
  const steps = '<h2 id="next">Next</h2><ol><li><p>Fix a.b/1</p></li>'
  const parts = ['class="verdict', steps, 'class="counts"'].map((part) => html.indexOf(part))
  expect(parts).toEqual(parts.toSorted((one, two) => one - two))
  expect(parts).not.toContain(-1)
  const rows = [missed('a.b/1', dead), missed('a.b/2', expired)]
  const down = report(rows, {}, { notJudged: dead.reason })
  expect(renderMarkdown(down)).not.toContain('declare')
  expect(await inHtml(down)).not.toContain('What to declare next')
})

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

test('the part to paste names what is not built', () => {
  const { part } = notBuilt(half)!
  expect(part.operations).toEqual(Object.fromEntries(absent.map((id) => [id, 'not-served'])))
  expect(checkTargetFile(part, 't.json')).toBe(part)
})

test('what is not there is reported before everything else, and nothing of it is to be declared', async () => {
  expect(whatToDeclare(half).flatMap(({ ids }) => ids)).toEqual(['completion.create/2xx-accepted'])
  const text = inTerminal(half)
  expect(text).toMatch(
    /^10 operations: 1 failing, 2 working, 1 only authentication tested, 5 not built, 1 not served$/m,
  )
  expect(text).toContain('"vision.analyze": "not-served"')
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

/** Gives what a run of a target file that declares so much leaves undeclared. */
function run(file: TargetFile) {
  return report(
    catalogue.map(({ id, needs, operation }) => {
      const reason = Object.hasOwn(file.scenarios ?? {}, id)
        ? undefined
        : missingReason(file, needs, operation)
      return reason === undefined ? result(id) : missed(id, reason)
    }),
  )
}

const first = run({})
const steps = whatToDeclare(first)
const filled = (example: unknown): TargetFile =>
  checkTargetFile(
    JSON.parse(JSON.stringify(example).replaceAll(/<[^<>"]+>/g, 'filled in')),
    'pasted',
  )

test('every requirement that lacks something is gained by one step, the greatest first', () => {
  const lacking = first.requirements
    .filter(({ outcome }) => outcome === 'not-exercised')
    .map(({ id }) => id)
  expect(steps.flatMap(({ ids }) => ids).toSorted()).toEqual(lacking.toSorted())
  expect(steps.map(({ ids }) => ids.length)).toEqual(
    steps.map(({ ids }) => ids.length).toSorted((a, b) => b - a),
  )
  const gain = (name: string) => steps.find(({ names }) => names.join() === name)!.ids.length
  expect([
    gain('keys.expired'),
    gain('keys.restricted'),
    gain('scenarios.*/429-quota-exceeded'),
  ]).toEqual([operations.length, operations.length, operations.length])
  expect(gainOf(steps)).toBe(lacking.length)
})

test('what a step shows declares what it says to gain, beside the steps before it', () => {
  const rows = new Map<string, (typeof catalogue)[number]>(catalogue.map((row) => [row.id, row]))
  const whole = filled(steps.reduce<unknown>((all, { example }) => mergePatch(all, example), {}))
  for (const { ids, names } of steps)
    for (const id of ids) {
      const row = rows.get(id)!
      // Of two that want other tools in one request, the second one is declared.
      if (!names.some((name) => /chat\.create\.(?:body|fields)\./.test(name)))
        expect(isDeclared(whole, row), `${id} by ${names.join()}`).toBe(true)
    }
})

test('the part that most servers can paste has no scenario and no member that a server may not know', () => {
  const part = usualPart(steps)
  expect(Object.keys(part)).toEqual(['keys', 'resources', 'operations'])
  expect(part).toMatchObject({ operations: { 'chat.create': { body: { model: '<model>' } } } })
  expect(JSON.stringify(part)).not.toMatch(/"tools"|"response_format"|"top_p"/)
  const gained = gainOf(whatToDeclare(run(filled(part))))
  expect(gained).toBeLessThan(gainOf(steps) / 2)
})

test('what to declare is reported in each front, and a reason of somebody else as it is', async () => {
  const terminal = inTerminal(first, { isVerbose: true })
  expect(terminal).toMatch(
    /^To test \d+ more requirements, add to the target file\n {2}\+\d+ {2}resources/m,
  )
  expect(inTerminal(first)).toContain('\n     conform init --from\n')
  const pasted = terminal.slice(terminal.indexOf('\n{\n'), terminal.indexOf('\n}\n') + 2)
  expect(JSON.parse(pasted)).toHaveProperty('keys.expired')
  expect(renderMarkdown(first)).toContain(`| +${operations.length} | \`keys.expired\` |`)
  const html = await inHtml(first)
  expect(html).toContain(
    `<b>+${operations.length}</b><details><summary><span class="mono">keys.expired</span>`,
  )

  const foreign = report([
    missed('a.b/1', undeclaredReason([[hostile]], '{')),
    missed('a.b/2', undeclaredReason([['x']], '[]')),
  ])
  expect(whatToDeclare(foreign)).toEqual([])
  expect(inTerminal(foreign, { isVerbose: true })).toContain('declare x, for example []')
  const deep = undeclaredReason([['keys.expired']], `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`)
  expect(whatToDeclare(report([missed('a.b/1', deep)]))).toHaveLength(1)
})

test('conform init --from adds it all to the end of the file, in a comment', () => {
  const [, , ...lines] = added('{\n}\n', steps).match(/(?<=^ {2}\/\/ ).*/gm)!
  const left = whatToDeclare(run(filled({ ...JSON.parse(lines.join('\n')), baseUrl: 'http://a' })))
  expect(left.flatMap(({ names }) => names).filter((name) => !/\.fields\./.test(name))).toEqual([])
})
