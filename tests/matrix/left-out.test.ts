import { describe, expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { getAt } from '../../schemas/json.ts'
import { headerOf, judge, type How, type Way } from '../engine/networks.ts'
import { type Judged, reasons } from './judge-reference.ts'

const reference = { jobMs: 15, slowJobMs: 1000 }

/** Judges the reference by few cases, and keeps what was sent. */
async function judgeQuick(how: How, only: readonly string[] = []) {
  const sent: Exchange[] = []
  const observe: How['observe'] = (exchange) => sent.push(exchange)
  return Object.assign(await judge(only, { reference, depth: 'quick', observe, ...how }), { sent })
}

const expectNothingFailed = ({ failed, results }: Judged): void =>
  expect(failed, reasons(results)).toEqual([])
const open = ({ results }: Judged) => results.filter(({ outcome }) => outcome === 'not-exercised')
const openReasons = (judged: Judged) => [...new Set(open(judged).map(({ reason }) => reason))]

/** Jobs cannot be read. */
const hidesJobs: Way = (request, send) =>
  send({ ...request, path: request.path.replace('/applications/jobs/', '/nothing/') })

const without =
  (id: 'jobs.retrieve' | 'jobs.create', more: object = {}) =>
  (file: TargetFile): TargetFile => ({
    ...file,
    operations: { ...file.operations, [id]: 'not-served' },
    ...more,
  })

describe('what a run leaves out is not exercised, and nothing fails', () => {
  test('only reading: nothing is created or generated, and refusals stand without a control', async () => {
    const judged = await judgeQuick({ readOnly: true })
    const { verdict, facts, sent, passed, of } = judged
    expectNothingFailed(judged)
    expect(verdict).toBe('passing')
    expect(facts.created).toEqual([])
    expect(sent.filter(({ probe }) => probe.effect !== 'none')).toEqual([])
    const granted = sent.filter(
      ({ probe, response }) => probe.method === 'POST' && (response?.status ?? 400) < 300,
    )
    const harmless = ['pdf.parse', 'ai-detect.run', 'web-search.run', 'medical.comprehend']
    const operations = granted.map(({ probe }) => probe.operation!)
    expect(operations.filter((operation) => !harmless.includes(operation))).toEqual([])
    expect(openReasons(judged)).toEqual(['left out: --read-only'])
    expect(passed).toContain('jobs.retrieve/200-job')
    const refused = { outcome: 'passed', control: 'none' }
    expect(of('jobs.create/400-missing-inputs')).toMatchObject(refused)
  })

  test.each([0, 3])(
    'an account that is full after %i uploads: only a server that takes none is blamed',
    async (room) => {
      let [own, full, left] = ['', '', room]
      const change = (file: TargetFile): TargetFile => {
        own = `Bearer ${file.keys?.full as string}`
        full = `Bearer ${file.scenarios?.['files.upload/507-storage-full']?.key as string}`
        return file
      }
      const way: Way = (request, send) => {
        const isUpload = request.method === 'POST' && request.path.startsWith('/v1/files')
        if (!isUpload || headerOf(request, 'authorization') !== own || left-- > 0) return send()
        const headers = request.headers.map((one) =>
          one.value === own ? { ...one, value: full } : one,
        )
        return send({ ...request, headers })
      }
      const only = ['files.*', 'graphs.*', 'pdf.parse/*', 'vision.analyze/*', 'envelope/*']
      const { failed, results } = await judgeQuick({ change, way }, only)
      expect(failed, reasons(results)).toEqual(room === 0 ? ['files.upload/2xx-accepted'] : [])
    },
  )

  test('jobs that nobody can read: no creation is blamed', async () => {
    const change = without('jobs.retrieve')
    expectNothingFailed(await judgeQuick({ change, way: hidesJobs }, ['jobs.*', 'applications.*']))
  })

  test('jobs that nobody can create: what only a creation shows does not apply', async () => {
    const change = ({ resources, ...file }: TargetFile) => {
      const { application: _own, ...others } = resources ?? {}
      return without('jobs.create', { scenarios: {} })({ ...file, resources: others })
    }
    const judged = await judgeQuick({ change }, ['jobs.retrieve/200-*'])
    expectNothingFailed(judged)
    for (const name of ['identity', 'created-at', 'outcome'])
      expect(judged.of(`jobs.retrieve/200-${name}`).outcome).toBe('not-applicable')
    expect(judged.passed).toContain('jobs.retrieve/200-job')
  })

  test.each([{ type: 'text' }, { pattern: '(' }])(
    'a declared schema that is invalid, %j, judges no content',
    async (schema) => {
      const id = 'chat.create/200-structured-output'
      const format = { type: 'json_schema', json_schema: { name: 'none', schema, strict: true } }
      const change = ({ scenarios, operations, ...file }: TargetFile): TargetFile => {
        const { [id]: _own, ...others } = scenarios ?? {}
        const chat = operations?.['chat.create'] as { readonly body: object }
        const body = { ...chat.body, response_format: format }
        const changed = { ...operations, 'chat.create': { ...chat, body } }
        return { ...file, scenarios: others, operations: changed }
      }
      const { of } = await judgeQuick({ change }, [id])
      expect(of(id).reason).toContain('the declared schema cannot be compiled: ')
    },
  )

  test('a key and one application: all that they can show, and the rest says what to declare', async () => {
    const declared: TargetFile = {}
    const judged = await judgeQuick({
      reference: { jobMs: 600 },
      change: (file) => Object.assign(declared, onlyApplication(file)),
    })
    expectNothingFailed(judged)
    const has = (pointer: string): boolean => getAt(declared, pointer) !== undefined
    const lacking = catalogue.filter(
      ({ id, needs }) => /^jobs\./.test(id) && !needs.every((need) => [need].flat().some(has)),
    )
    expect(lacking.length).toBeGreaterThan(5)
    const openOfJobs = open(judged).filter(({ id }) => /^jobs\./.test(id))
    expect(openOfJobs.map(({ id }) => id).toSorted()).toEqual(
      lacking.map(({ id }) => id).toSorted(),
    )
    const others = ['files.list/2xx-accepted', 'vision.analyze/401-invalid-key', 'envelope/shape']
    expect(judged.passed).toEqual(expect.arrayContaining(others))
    expect(open(judged).filter(({ reason }) => !reason?.startsWith('declare '))).toEqual([])
    expect(judged.verdict).toBe('passing')
  })
})

test('jobs that end at once: the reason says how long they took, and what to declare', async () => {
  const id = 'jobs.create/409-job-in-progress'
  const instant = { variants: ['jobs/instant'] }
  const { of } = await judge([id], { reference: instant, change: onlyApplication })
  expect(of(id).outcome).toBe('not-exercised')
  expect(of(id).reason).toMatch(
    /application [\da-f-]{36}: its longest job was seen ended after \d+ ms: declare as resources\.slowApplication one /,
  )
})

function onlyApplication({ keys, resources }: TargetFile): TargetFile {
  const { id, inputs } = resources?.application ?? { id: '', inputs: [] }
  return { keys: { full: keys!.full! }, resources: { application: { id, inputs } } }
}
