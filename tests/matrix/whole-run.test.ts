import { describe, expect, test } from 'vitest'
import { type CatalogueRequirement, catalogue, requirementById } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { matrix } from '../spec/fault-matrix.ts'
import type { HttpRequest } from '../../harness/http/message.ts'
import { estimate } from '../../suites/estimate.ts'
import { requestsOf, planRun } from '../../suites/plan.ts'
import type { Prepared } from '../../harness/run/run.ts'
import { defaultLimits } from '../../harness/target/model.ts'
import { resolveTarget } from '../../harness/target/resolve.ts'
import { via } from '../engine/networks.ts'
import { expectNothingFailed, judgeConforming } from './allowed-differences.ts'
import { judgeReference } from './judge-reference.ts'

function mostOf(
  requirement: CatalogueRequirement,
  { given: { target, options } }: Prepared,
): number {
  const { most, also } = requestsOf(requirement, target, options)
  return Object.values(also).reduce((sum, more) => sum + more, most)
}

/** Expects the dry run's figures to be about what is sent: of jobs within a third and thrice of them. */
function expectAbout(
  { sent, taken }: Record<'sent' | 'taken', ReadonlyMap<string, number>>,
  { given: { options, plan, target } }: Prepared,
): void {
  const estimated = estimate(plan, target, options)
  const rows = estimated.map(
    ({ operation, requests }) => [operation, sent.get(operation) ?? 0, requests] as const,
  )
  // Bad input that a target may accept counts, whether this one does or not.
  const made = estimated.map(
    ({ operation, creations, generations }) =>
      [operation, taken.get(operation) ?? 0, creations + generations] as const,
  )
  const off = made.filter(([, count, about]) => count < 0.6 * about || count > 1.5 * about)
  expect(off).toEqual([])
  const isJobs = (operation: string) => operation.startsWith('jobs.')
  const wrong = rows.filter(([operation, count, about]) => {
    const [least, most] = isJobs(operation) ? [0.3, 3] : [0.6, 1.5]
    return count <= least * about || count >= most * about
  })
  expect(wrong).toEqual([])
  const known = rows.filter(([operation]) => !isJobs(operation))
  const sum = (at: 1 | 2) => known.reduce((all, row) => all + row[at], 0)
  expect(Math.abs(sum(1) / sum(2) - 1)).toBeLessThan(0.25)
}

const methods: ReadonlySet<string> = new Set(operations.map(({ method }) => method))

/** What readings.md lists as never sent, in a request and the text of its body. */
const never: Readonly<Record<string, (request: HttpRequest, text: string) => boolean>> = {
  'a method of no operation': ({ method }) => !methods.has(method),
  'a long segment': ({ path }) => path.split(/[/?]/).some((one) => one.length > 64),
  'two keys': ({ headers }) => headers.filter(({ name }) => isKey(name)).length > 1,
  'a key that may be right': ({ headers }) =>
    headers.some(
      // Base64 under the scheme Basic may end in `=`.
      ({ name, value }) =>
        isKey(name) && /^\s|\s$|^(?!Basic ).*=$|^(?!Bearer)bearer\b/i.test(value),
    ),
  'a byte that headers do not have': ({ headers }) =>
    headers.some(({ name, value }) => /[^ -~]/.test(value) && name !== 'content-disposition'),
  'a label that may be right': ({ headers, body = '' }) => {
    const label = headers.find(({ name }) => name === 'content-type')?.value
    return label === undefined
      ? body.length > 0
      : /\bjson\b/.test(label) && !/^application\/json(;|$)|format=json$/.test(label)
  },
  'a byte order mark, a lone surrogate, deep nesting': (_, text) =>
    /^\uFEFF|\\ud[89a-f]|(?:[[{][^\]}]*){20}/i.test(text),
  'max_snippets of 26 to 29': (_, text) => /"max_snippets":2[6-9]\b/.test(text),
}
const isKey = (name: string): boolean => name === 'authorization'

/** Notes which of these are sent, except as bad input and for the target file itself. */
const notingNever = (found: Set<string>) =>
  via((request, send, { purpose }) => {
    const isOwn = purpose && !purpose.badInput && !purpose.requirement?.endsWith('no-5xx')
    const text = Buffer.from(request.body ?? '').toString()
    for (const [what, isSent] of Object.entries(never))
      if (isOwn && isSent(request, text)) found.add(`${what}: ${purpose.requirement}`)
    return send()
  })

const way = ['spellings/served']

async function judgeWhole() {
  const faults = new Set<string>()
  const neverSent = new Set<string>()
  /** Bad input for which text was generated. */
  const granted = new Map<string, number>()
  const byRequirement = new Map<string, number>()
  const byOperation = new Map<string, number>()
  const taken = new Map<string, number>()
  const add = (counts: Map<string, number>, name: string): void =>
    void counts.set(name, (counts.get(name) ?? 0) + 1)
  // A spelling that a server does not take for a path is not asked for with every key.
  const judged = await judgeConforming(way, {
    options: { refusalRuns: 3, grantedRuns: 2 },
    limits: { maxGenerations: defaultLimits.maxGenerations },
    network: (transport) => noting(faults)(notingNever(neverSent)(transport)),
    observe({ probe, response, purpose: { requirement, role } }) {
      const operation = probe.operation ?? requirement?.split('/')[0] ?? 'the run itself'
      add(byOperation, operation)
      const isBad = requirement?.endsWith('/bad-input-no-5xx')
      const isSuccess = response?.isGranted === true
      const isMaking = probe.effect === 'creates' || probe.effect === 'generates'
      if ((isSuccess || (response && isBad)) && isMaking) add(taken, operation)
      if (isSuccess && isBad && role === 'probe' && probe.effect === 'generates')
        add(granted, requirement!)
      if (requirement !== null && role !== 'control') add(byRequirement, requirement)
    },
  })
  const counts = { sent: byOperation, taken }
  return { judged, faults, neverSent, granted, byRequirement, counts }
}

/** Notes the faults of the requests, by operation. */
const noting = (faults: Set<string>) =>
  via((_, send, { probe, purpose }) => {
    const operation = probe?.operation ?? purpose?.requirement?.replace(/\/.*/, '')
    // One request may hold several.
    for (const fault of probe?.fault?.split(' + ') ?? []) faults.add(`${operation}: ${fault}`)
    return send()
  })

describe('a whole run of a conforming server', async () => {
  const { judged, faults, neverSent, granted, byRequirement, counts } = await judgeWhole()

  test('fails nothing', () => expectNothingFailed(way, judged))

  test('sends nothing that readings.md lists as never sent', () => {
    expect([...neverSent]).toEqual([])
  })

  test('sends for no requirement more than its row says, so that the dry run promises no less than is sent', () => {
    const { run } = judged
    expect(byRequirement.size).toBeGreaterThan(200)
    const over = catalogue
      .filter((row) => run.given.target.scenarios[row.id] === undefined)
      .filter((row) => (byRequirement.get(row.id) ?? 0) > mostOf(row, run))
      .map((row) => `${row.id}: ${byRequirement.get(row.id)} of ${mostOf(row, run)}`)
    expect(over).toEqual([])
    expectAbout(counts, run)
  })

  test('sends every case that the fault matrix names', () => {
    const cases = matrix.filter(
      (cell) =>
        'requirement' in cell && !cell.isInTurn && !requirementById[cell.requirement].scenarioOnly,
    )
    // A member that the valid request lacks cannot be left out of it.
    const optional = /^[\w.-]+: absent @ /
    const names = cases.map(({ operation, fault }) => `${operation}: ${fault}`)
    expect(names.filter((name) => !faults.has(name) && !optional.test(name))).toEqual([])
  })

  test('tries members of requests for generated text until as many were granted as the dry run says', () => {
    const { options, target } = judged.run.given
    expect(granted.size).toBeGreaterThan(2)
    for (const [id, count] of granted) {
      const row = requirementById[id as CatalogueRequirement['id']]
      const { generations } = requestsOf(row, target, options)
      expect({ id, count: Math.max(count, generations) }).toEqual({ id, count: generations })
    }
  })
})

const where = { dir: '.', env: {}, baseUrl: 'http://target.example' }

test('a target that declares everything is judged whole within the usual maxGenerations', async () => {
  const { run } = await judgeReference({}, { options: { only: ['files.list/2xx-*'] } })
  const { maxGenerations } = defaultLimits
  const target = { ...run.given.target, limits: { ...run.given.target.limits, maxGenerations } }
  const options = { ...run.given.options, only: [], refusalRuns: 25, grantedRuns: 5 }
  const plan = planRun(target, options)
  const left = [...plan.values()].flatMap((entry) => (entry.run ? [] : entry.reason))
  expect(left.filter((reason) => reason.includes('maxGenerations'))).toEqual([])
  // Bad input has all that it may need, if a target grants whatever it may.
  const rows = estimate(plan, target, options)
  const generated = rows.reduce((sum, { generations }) => sum + generations, 0)
  expect(generated).toBeLessThanOrEqual(maxGenerations)
  expect(generated).toBeGreaterThan(300)
  // Nothing is made without a request.
  for (const one of plan)
    for (const depth of ['full', 'quick'] as const)
      for (const row of estimate(new Map([one]), target, { ...options, depth })) {
        const { requests, creations, generations } = row
        expect([one[0], Math.max(requests, creations, generations)]).toEqual([one[0], requests])
      }
  // Nor is anything for what is not declared, nor where nothing may be.
  const reading = { ...options, readOnly: true }
  const { target: bare } = await resolveTarget({ keys: { full: 'a-key-of-the-target' } }, where)
  for (const [of, chosen] of [[target, reading] as const, [bare, options] as const])
    for (const { creations, generations } of estimate(planRun(of, chosen), of, chosen))
      expect([creations, generations]).toEqual([0, 0])
  // What exceeds a lower limit says how many cases, and which limit would do.
  const planWith = (most: number) =>
    planRun({ ...target, limits: { ...target.limits, maxGenerations: most } }, options)
  const [id, entry] = [...planWith(20)].find(([, one]) => !one.run && /^max/.test(one.reason))!
  const reason = entry.run ? '' : entry.reason
  expect(reason).toMatch(
    /^maxGenerations: (\d+) of \1 cases were not sent, because limits\.maxGenerations is 20; \d+ would be enough for them$/,
  )
  expect(planWith(Number(/(\d+) would/.exec(reason)![1])).get(id)?.run).toBe(true)
})
