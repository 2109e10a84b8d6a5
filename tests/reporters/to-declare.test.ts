import { undeclaredReason } from '../../harness/report/reason.ts'
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { checkTargetFile } from '../../harness/target/check.ts'
import { isDeclared, missingReason } from '../../harness/target/declared.ts'
import type { TargetFile } from '../../harness/target/target-file.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { gainOf, usualPart, whatToDeclare } from '../../reporters/view/next-steps.ts'
import { starter } from '../../cli/init/starter.ts'
import { standardAnswers } from '../../cli/init.ts'
import { mergePatch } from '../../schemas/json.ts'
import { missed, report, result } from '../gates/results.ts'
import { hostile } from './hostile.ts'
import { inTerminal, inHtml } from './shown.ts'

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

test('it is reported in each front, and a reason of somebody else is reported as it is', async () => {
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

test('conform init --from writes it all in comments, each operation with not-served beside it', () => {
  const answers = { ...standardAnswers({}), notServed: ['vision.analyze' as const], steps }
  const text = starter('t.json', answers)
  for (const { id } of operations) {
    const live = id === 'vision.analyze' ? '' : '// '
    expect(text).toContain(`\n    ${live}"${id}": "not-served",\n`)
  }
  const lines = (pattern: RegExp) => text.replaceAll(pattern, '    ')
  const uncommented = lines(/^ {4}\/\/ (?=["\s{}\]])/gm).replaceAll(/^.*"not-served",$/gm, '')
  // The requests of one operation with other members exclude each other: the first, which most servers take, is kept.
  const once = uncommented.replaceAll(
    /^ {4}\/\/ \+\d+, with operations\.[\w.-]+\.(?:fields|body)\.[^]*?(?=^ {4}\/\/)/gm,
    '',
  )
  const value = JSON.parse(once.replaceAll(/^ *\/\/.*$/gm, '').replaceAll(/,(?=\s*[}\]])/g, ''))
  const left = whatToDeclare(run(filled({ ...value, baseUrl: 'http://localhost' })))
  expect(
    left
      .flatMap(({ names }) => names)
      .filter((name) => !/vision\.analyze|\.(?:body|fields)\./.test(name)),
  ).toEqual([])
})
