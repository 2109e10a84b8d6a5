/** What a report says to do next: what to fix, to build, to declare, to run. */
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { added } from '../../cli/init.ts'
import { leftOut, targetReason, undeclaredReason } from '../../harness/report/reason.ts'
import type { Report } from '../../schemas/report.ts'
import { checkTargetFile } from '../../harness/target/load.ts'
import { isDeclared, missingReason } from '../../harness/target/declared.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import {
  gainOf,
  mergedExamples,
  nextSteps,
  usualPart,
  whatToDeclare,
} from '../../reporters/view/next-steps.ts'
import { operationMap, shownMap } from '../../reporters/view/standing.ts'
import { mergePatch } from '../../schemas/json.ts'
import { failed, missed, notApplicable, report, result } from '../gates/results.ts'
import { hostile } from './hostile.ts'
import { inHtml, inTerminal } from './samples.ts'

const expired = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
const dead = targetReason('http://127.0.0.1:1', 'connection refused')

const answers = (...statuses: number[]) => ({
  statuses: statuses.map((status) => ({ status, times: 1 })),
})

// Other situations: `terminal`.
test.each<[what: string, of: Report, texts: string[]]>([
  ['recorded traffic', report([failed('a.b/1')], { runs: 0 }), ['Fix a.b/1']],
  [
    'a target that is dead, as the last line says',
    report([missed('a.b/1', dead)], answers(503, 502), { notJudged: dead.reason }),
    [],
  ],
  [
    'a gateway that asks for a credential of its own, as the last line says',
    report([missed('a.b/1', dead)], answers(401), { notJudged: dead.reason }),
    [],
  ],
  [
    'an id that the target does not know',
    report([failed('a.b/1')], { runs: 0, hints: ['a.b got 404: check resources.graph'] }),
    ['a.b got 404: check resources.graph'],
  ],
  [
    'a module that never loads, as the last line says',
    report([missed('a.b/1', 'never loads')], answers(), { notJudged: 'never loads' }),
    [],
  ],
  [
    'one error everywhere',
    { ...report([failed('a.b/1')], answers(500), { notJudged: 'x' }), verdict: 'not-judged' },
    ['Find this error in the log of the server, fix it, and run again'],
  ],
])('next of %s', (_, of, texts) => {
  expect(nextSteps(of).map(({ text }) => text)).toEqual(texts)
})

test.each([
  ['conform http://a --start s', 'conform http://a --start s'],
  ['conform http://a', 'conform http://a --wait 30000'],
])('next after %s, which reached nothing, is %s', (command, next) => {
  const of = report([missed('a.b/1', dead)], { command }, { notJudged: dead.reason })
  expect(nextSteps(of).map((step) => step.command)).toEqual([next])
})

test('next is to run again what failed, by the command of the run', () => {
  const commandOf = (run = {}) => nextSteps(report([failed('a.b/1')], run))[1]!.command
  expect(commandOf({ command: 'conform -t t.json' })).toBe('conform -t t.json --failed')
  // A report by itself knows the command from its failures.
  expect(commandOf()).toBe('conform https://example.com --failed')
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
  const part = nextSteps(half)[0]!.paste as { operations: unknown }
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
    ...[result('jobs.create/202-created'), result('translate.run/2xx-accepted')],
    missed('files.list/2xx-accepted', leftOut('--only')),
    notApplicable('pdf.parse/4xx-removed'),
  ]
  const map = shownMap(report(rows, { only }))
  expect(map?.map(({ operation }) => `${operation}/*`)).toEqual(only)
})

test('of a run that was to look at one operation, or learned nothing, there is no map', () => {
  const all = (reason: Parameters<typeof missed>[1]) =>
    operations.map(({ id }) => missed(`${id}/2xx-accepted`, reason))
  for (const rows of [
    [result('files.list/2xx-accepted')],
    [...all(leftOut('--only')).slice(1), failed('pdf.parse/200-content')],
    all('no key: give it'),
  ])
    expect(shownMap(report(rows))).toBeUndefined()
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
  const lacking = first.requirements.filter(({ outcome }) => outcome === 'not-exercised')
  const gained = steps.flatMap(({ ids }) => ids)
  expect(gained.toSorted()).toEqual(lacking.map(({ id }) => id).toSorted())
  const gains = steps.map(({ ids }) => ids.length)
  expect(gains).toEqual(gains.toSorted((a, b) => b - a))
  for (const name of ['keys.expired', 'keys.restricted', 'scenarios.*/429-quota-exceeded'])
    expect(steps.find(({ names }) => names.join() === name)!.ids).toHaveLength(operations.length)
  expect(gainOf(steps)).toBe(lacking.length)
})

test('what a step shows declares what it says to gain, beside the steps before it', () => {
  const whole = filled(steps.reduce<unknown>((all, { example }) => mergePatch(all, example), {}))
  for (const { ids, names } of steps)
    for (const row of catalogue.filter(({ id }) => ids.includes(id)))
      // Of two that want other tools in one request, the second one is declared.
      if (!names.some((name) => /chat\.create\.(?:body|fields)\./.test(name)))
        expect(isDeclared(whole, row), `${row.id} by ${names.join()}`).toBe(true)
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
  expect(terminal).toMatch(/^To declare: \d+\n {2}\d+ {2}resources/m)
  expect(inTerminal(first)).toContain('\n     conform init --from\n')
  for (const name of ['t.json', `'Anna'\\''s file.json'`]) {
    const command = `npx conform http://127.0.0.1 --target ${name} --runs 2`
    expect(inTerminal({ ...first, run: { ...first.run, command } })).toContain(
      `\n     npx conform init ${name} --from\n`,
    )
  }
  expect(renderMarkdown(first)).toContain(`| ${operations.length} | keys.expired |`)
  const html = await inHtml(first)
  expect(html).toContain(`<b>+${operations.length}</b><span class="mono">keys.expired</span>`)

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
  expect(added('{\n}\n', {})).toBe('{\n}\n')
  const [, , ...lines] = added('{\n}\n', mergedExamples(steps)).match(/(?<=^ {2}\/\/ ).*/gm)!
  const left = whatToDeclare(run(filled({ ...JSON.parse(lines.join('\n')), baseUrl: 'http://a' })))
  expect(left.flatMap(({ names }) => names).filter((name) => !/\.fields\./.test(name))).toEqual([])
})
