/** Failures that are one, and what likely causes them. */
import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { isRefusal } from '../../catalogue/answers.ts'
import type { Failure, RequirementResult } from '../../schemas/report.ts'
import { renderCtrf } from '../../reporters/ctrf.ts'
import { renderJunit } from '../../reporters/junit.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { byCause, likelyCauses, nextSteps } from '../../reporters/view/next-steps.ts'
import { failed, failure, report, result } from '../gates/results.ts'
import { inHtml, inTerminal } from './samples.ts'

interface Answer {
  status: number
  body?: unknown
  text?: string
}

function answered({ body, status, text }: Answer): Partial<Failure> {
  const response = { status, headers: {}, body: text ?? JSON.stringify(body) }
  return { exchange: { ...failure().exchange!, response } }
}

/** The groups that these failures make, each as the ids in it. */
const groups = (...rows: RequirementResult[]) =>
  byCause(rows).map(({ results }) => results.map(({ id }) => id).join(' '))
const granted = (status: number, text: string): Partial<Failure> => ({
  ...{ actual: `${status} ${text}`, toRefuse: true },
  ...answered({ status, text }),
})
const misshapen = (text: string): Partial<Failure> => ({
  ...{ expected: 'a JSON body that fits', actual: `200, but ${text}` },
  ...answered({ status: 200, text }),
})
const other = answered({ status: 500, text: '{"tpe":"NotFound"}' })
const cites = (told: string) => ({ expected: `404 ResourceNotFound${told}`, cites: told })
const notFound = (path: string) => ({
  ...{ actual: `404 Cannot POST ${path}`, expected: 'a 2xx (§4.5)' },
  ...answered({ status: 404, text: `Cannot POST ${path}` }),
})
const reused = (actual: string) => ({
  connection: 'reused' as const,
  actual: `wrong only on a reused connection: ${actual}`,
})

test.each<[what: string, one: Partial<Failure>, other: Partial<Failure>, groups: 1 | 2]>([
  ['one answer', {}, {}, 1],
  [
    'another description',
    { actual: '404 NotFound no such job' },
    { actual: '404 NotFound no such file' },
    1,
  ],
  ['other sections that are cited', cites(' (§4.2, §7.3)'), cites(' (§5)'), 1],
  ['pages that name the path', notFound('/v1/a'), notFound('/v1/c'), 1],
  ['what was granted with any body', granted(200, '{"a":1}'), granted(201, '{}'), 1],
  ['other expectations', {}, { expected: '400 BadRequest' }, 2],
  ['other statuses', {}, other, 2],
  ['other members missing', misshapen('x is missing'), misshapen('y is missing'), 2],
])('failures of two operations with %s are grouped', (_, one, another, wanted) => {
  expect(groups(failed('a.b/1', one), failed('c.d/1', another))).toHaveLength(wanted)
})

test.each<[what: string, rows: RequirementResult[], groups: string]>([
  ['one operation', [failed('a.b/1'), failed('a.b/2')], 'a.b/1, a.b/2'],
  ['other levels', [failed('a.b/1'), { ...failed('c.d/1'), level: 'should' }], 'a.b/1, c.d/1'],
  [
    'no failure kept',
    ['a.b/1', 'c.d/1'].map((id) => result(id, { outcome: 'failed' })),
    'a.b/1, c.d/1',
  ],
  [
    'what was granted in other conditions',
    [failed('a.b/nan', granted(200, '{}')), failed('e.f/other', granted(200, '{}'))],
    'a.b/nan, e.f/other',
  ],
  [
    'reused connections, also within one operation',
    [
      ...[failed('a.b/1', reused('501')), failed('a.b/3'), failed('a.b/2', reused('400 x'))],
      failed('c.d/1', reused('501 y')),
    ],
    'a.b/1 a.b/2 c.d/1, a.b/3',
  ],
])('failures of %s are grouped', (_, rows, wanted) => {
  expect(groups(...rows).join(', ')).toBe(wanted)
})

const ids = Array.from({ length: 14 }, (_, at) => `area-${at}.run/401-missing-credentials`)
const whole = report([
  ...ids.map((id) => failed(id)),
  failed('z.z/1', { expected: 'another thing' }),
])

test('a group is one block on every page, and each of its ids an entry in the files', async () => {
  expect(inTerminal(whole)).toMatch(/^✗ area-0\.run\/401-missing-credentials .*/m)
  const terminal = inTerminal(whole, { isVerbose: true })
  expect(terminal.match(/^✗ /gm)).toHaveLength(2)
  const markdown = renderMarkdown(whole)
  expect(markdown.match(/^<details( open)?>/gm)).toHaveLength(2)
  expect(markdown).toContain('and 13 more</summary>')
  const html = await inHtml(whole)
  const [, list = ''] = /<ol class="failures">([^]*?)<\/ol>/.exec(html)!
  expect(list.match(/<li>/g)).toHaveLength(2)
  expect(list).toContain('<summary>Same for 13 more</summary>')
  for (const id of ids) {
    expect(terminal).toContain(id)
    expect(markdown).toContain(`\`${id}\``)
    expect(list).toContain(`>${id}</a>`)
    expect(html).toContain(`<details class="r f" id="${id}"`)
  }
  expect(renderJunit(whole).match(/<failure /g)).toHaveLength(15)
  expect(renderCtrf(whole).match(/"status": "failed"/g)).toHaveLength(15)
})

/** Failures of the refusals of the catalogue, whose answers are made of the status and the name that each asks for. */
function failing(
  answering: (status: number, tpe: string) => Partial<Answer> | null,
  only = /./,
): RequirementResult[] {
  return catalogue.flatMap(({ expects, id }) => {
    const [status, tpe = 'BadRequest'] = isRefusal(expects) ? expects[0]! : []
    if (typeof status !== 'number' || !only.test(id)) return []
    const answer = answering(status, tpe)
    return answer === null ? [] : [failed(id, answered({ status, ...answer }))]
  })
}

const envelope = (tpe: string) => ({ tpe, errors: [], extras: {} })
const lower = failing((_, tpe) => ({ body: envelope(tpe.toLowerCase()) }))
const keyless = failing((status) => (status === 401 ? { status: 200, body: {} } : null))

test.each<[cause: RegExp, results: RequirementResult[]]>([
  [/^code names in another spelling$/, lower],
  [
    /^code names in another spelling$/,
    failing((_, tpe) => ({ body: envelope(tpe.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&')) })),
  ],
  [
    /^no error envelope, but the right status$/,
    failing((_, tpe) => ({ body: { error: tpe, message: 'm' } })),
  ],
  [
    /^HTML page instead of the JSON error envelope$/,
    failing(() => ({ status: 403, text: '<!doctype html>' }), /^translate/),
  ],
  [/^no error envelope, but the right status$/, failing(() => ({ text: '' }))],
  [/^error envelopes lack extras$/, failing((_, tpe) => ({ body: { tpe, errors: [] } }))],
  [
    /^nearly everything gets the same answer: 418 InternalError$/,
    failing(() => ({ status: 418, body: envelope('InternalError') })),
  ],
  [
    /^much of jobs\.retrieve, files\.list, files\.retrieve gets the same answer: 200$/,
    failing(
      (status) => ({ status: 200, body: { status } }),
      /^(?:jobs\.retrieve|files\.(?:list|retrieve))\//,
    ),
  ],
  [
    /^422 returned, but 400 is right/,
    failing((status, tpe) => (status === 400 ? { status: 422, body: envelope(tpe) } : null)),
  ],
  [/^requests without a valid key are accepted$/, keyless],
])('likely cause: %s', (what, results) => {
  expect(results.length).toBeGreaterThan(0)
  const [first] = likelyCauses(results)
  expect(first!.what).toMatch(what)
  expect(first!.results.length).toBeGreaterThan(results.length / 2)
})

const onReused = failing(() => ({ status: 418, body: envelope('X') }), /401-missing-credentials$/)
const cut = failing(() => ({ text: '{"tpe": "BadRe' }), /^jobs\.create\/400-/)
for (const { failures } of cut) failures[0]!.exchange!.response!.bodyLength = 20_000
test.each<[string, RequirementResult[]]>([
  ['two failures', lower.slice(0, 2)],
  ['what a body that was cut held', cut],
  [
    'errors whose status is right, if everything breaks down',
    ['shape', 'content-type', 'unsupported-method'].map((id) =>
      failed(`envelope/${id}`, answered({ status: 504, text: '<html>Gateway Time-out' })),
    ),
  ],
  [
    'another status, if it is wrong on reused connections alone',
    onReused.map((one) => ({
      ...one,
      failures: one.failures.map((each) => ({ ...each, ...reused('418') })),
    })),
  ],
])('no cause is guessed of %s', (_, results) => {
  expect(likelyCauses(results)).toEqual([])
})

test('a cause is one failure in every front; --verbose shows each', async () => {
  const of = report(lower)
  const text = inTerminal(of)
  expect(text).toContain(`\n✗ ${lower.length} × code names in another spelling\n`)
  expect(text.match(/^✗ /gm)).toHaveLength(1)
  expect(text).toContain(`\n  1. Send the code names exactly as §7.2 writes them`)
  expect(renderMarkdown(of)).toContain('| Code names in another spelling. ')
  expect(await inHtml(of)).toContain('<li><p class="cause">Code names in another spelling<')
  const some = lower.slice(0, 40)
  const each = inTerminal(report(some), { isVerbose: true })
  for (const { id } of some) expect(each).toContain(id)
})

const broken = failing(() => ({ status: 500, body: envelope('InternalError') }))

test('one answer to everything is said only if nearly no other passed', () => {
  const first = (results: RequirementResult[], passed: RequirementResult[]) =>
    likelyCauses(results, { run: {}, requirements: [...results, ...passed] })[0]!
  expect(first(broken, [])).toMatchObject({
    what: 'nearly everything gets the same answer: 500 InternalError',
    change: expect.stringContaining('the log of the server, the base URL'),
  })
  const open = failing((status) =>
    /^40[034]$/.test(`${status}`) ? { status: 200, body: {} } : null,
  )
  const others = failing(() => ({ status: 418 }))
    .filter(({ id }) => !open.some((one) => one.id === id))
    .map(({ id }) => result(id))
  expect(first(open, others.slice(0, 8)).what).toBe('nearly everything gets the same answer: 200')
  expect(others.length * 4).toBeGreaterThan(open.length)
  const causes = likelyCauses(open, { run: {}, requirements: [...open, ...others] })
  expect(causes.some(({ what }) => /^requests .* are accepted$/.test(what))).toBe(true)
  expect(causes.filter(({ what }) => what.includes('same answer'))).toEqual([])
})

test('operations that are not there are one cause, before all others and once in what is next', () => {
  const ids = ['chat.create', 'translate.run']
  const absent = ids.map((operation) => ({ operation, answered: '404' }))
  const rows = [failed('chat.create/2xx-accepted', answered({ status: 404, text: '' })), ...lower]
  const half = report(rows, { absent })
  const [first, second] = likelyCauses(rows, half)
  expect(first!.what).toBe('not built: chat.create, translate.run')
  expect(second!.results.filter(({ operation }) => ids.includes(operation))).toEqual([])
  const steps = nextSteps(half).map(({ text }) => text)
  expect(steps[0]).toMatch(/^Build the 2 missing operations /)
  expect(steps.filter((text) => /build/i.test(text))).toHaveLength(1)
})

test('answers that come and go are named before all causes', () => {
  const chance = broken.slice(0, 4).map((one) => ({
    ...one,
    failures: one.failures.map((each) => ({ ...each, takes: 'chance' as const })),
  }))
  const [first, second] = likelyCauses([...chance, ...lower])
  expect(first).toMatchObject({ what: 'the answers to one request differ', results: chance })
  expect(second!.what).toMatch(/^code names/)
})

test('what to do next says of a cause what to change', () => {
  expect(nextSteps(report(keyless))[0]!.text).toBe(
    `Refuse requests without a valid key with 401: ${keyless.length} failures`,
  )
})
