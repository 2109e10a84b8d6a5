import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { HttpRequest, HttpResult } from '../../harness/http/message.ts'
import type { Failure } from '../../schemas/report.ts'
import { createReference, startReference } from '../../reference/server.ts'
import { evidenceText } from '../../reporters/view/evidence.ts'
import { judgeReference, judgeUrl, transportTo } from '../matrix/judge-reference.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import { answered, envelope, headerOf, isGranted, judge, jsonIn, via } from './networks.ts'

/** A layer before a server that lives on from one run to the next. */
type Live = (
  request: HttpRequest,
  send: (request: HttpRequest) => Promise<HttpResult>,
) => Promise<HttpResult>

const { full: fullKey } = (createReference().target as { keys: { full: string } }).keys
const pace = { jobMs: 15, slowJobMs: 1200 }
const plain: Live = (request, send) => send(request)
const hasStatus = (result: HttpResult, ...statuses: number[]) =>
  result.kind === 'answer' && statuses.includes(result.status)
const isReading = ({ method, path }: HttpRequest) =>
  method === 'GET' && path.startsWith('/v1/applications/jobs/')
const isCreation = ({ method, path }: HttpRequest) => method === 'POST' && path.endsWith('/jobs')

/** Whatever job is read, the newest one is shown. */
const newestJob = (): Live => {
  let newest: string | undefined
  return async (request, send) => {
    const isOne = newest !== undefined && isReading(request) && /[0-9a-f-]{36}$/.test(request.path)
    const result = await send(
      isOne ? { ...request, path: `/v1/applications/jobs/${newest}` } : request,
    )
    if (isCreation(request) && isGranted(result)) newest = jsonIn(result).id as string
    return result
  }
}

/** The first request to each path breaks the server, which is fine from then on. */
const coldStart = (): Live => {
  const warm = new Set(['/v1/files'])
  return async (request, send) => {
    const result = await send(request)
    if (warm.has(request.path)) return result
    warm.add(request.path)
    return answered(result, 500, envelope('InternalError'))
  }
}

/** What fails on a server with that defect, or with another fault: what it takes, and whether its line shows it again there. */
const rows: [failing: string, takes: string, again: boolean, fault?: string][] = [
  ['jobs.retrieve/200-identity', 'job-of-run', true, 'newest job'],
  ['jobs.retrieve/200-created-at', 'job-of-run', true, 'newest job'],
  ['jobs.retrieve/4xx-unknown-job', '-', true, 'newest job'],
  ['ai-detect.run/2xx-accepted', 'earlier-requests', false, 'cold start'],
  ['jobs.retrieve/200-stable#status', 'job-of-run', true],
  ['jobs.create/4xx-no-effect#later', 'refusal-before', true],
  ['jobs.create/4xx-no-effect#locks', 'refusal-before', false],
  ['jobs.create/409-job-in-progress#parallel', 'job-in-progress', true],
  ['jobs.create/409-job-in-progress#other', 'job-in-progress', true],
  ['jobs.create/409-job-in-progress#failing', 'job-in-progress', true],
  ['jobs.create/409-per-application', 'job-elsewhere', true],
  ['jobs.create/409-atomic', 'requests-at-once', true],
  ['jobs.create/409-released', 'job-before', true],
  ['jobs.create/409-released#after-third', 'job-before', true],
  ['jobs.retrieve/200-outcome', 'endless-job', false],
  ['jobs.create/202-created#second-5xx', 'idle-application', true],
  ['files.upload/2xx-retrievable#attached', 'object-of-run', true],
  ['files.upload/2xx-retrievable#last-only', 'object-of-run', true],
  ['graphs.create/2xx-usable#at-once', 'object-of-run', true],
  ['graphs.create/400-duplicate-name#latest-only', 'object-of-run', true],
  ['files.upload/2xx-accepted#pdf', '-', true],
]

/** Reads what a shell would run: the ids and the seed of the line, with names that no run has used before. */
function optionsOf({ rerun }: Failure) {
  const only = [...rerun.matchAll(/ --only (\S+)/g)].map(([, id]) => id!)
  const seed = Number(/^conform.* --seed (\d+)$/.exec(rerun)![1])
  return { only, seed, nonce: 'else' }
}

/** Judges a server, and gives how to judge it once more as it is then. */
async function judgeLive(fault: string) {
  const live = fault === 'newest job' ? newestJob() : fault === 'cold start' ? coldStart() : plain
  const reference = createReference({ ...pace, defects: live === plain ? [fault] : [] })
  const again = (options: object) => {
    const transport = via((request, send) => live(request, send))(transportTo(reference))
    return judgeUrl(reference.url, { transport, options })
  }
  const isOfJobs = live === plain ? fault.startsWith('jobs.') : fault === 'newest job'
  const others = ['files.*', 'graphs.create/*', 'ai-detect.run/*', 'pdf.parse/200-content']
  return { first: await again({ only: isOfJobs ? ['jobs.*'] : others }), again }
}

test.each(rows)(
  'a failure of %s takes %s, and shows again by its line: %s',
  async (defect, takes, isShown, fault) => {
    const id = defect.replace(/#.*/, '')
    await inVirtualTime(async () => {
      const { first, again } = await judgeLive(fault ?? defect)
      const [failure] = first.of(id).failures
      expect(failure?.takes ?? '-', first.failed.join()).toBe(takes)
      const note = /^note .*one request alone does not reproduce this: /m
      expect(note.test(evidenceText(failure!))).toBe(takes !== '-')
      const options = optionsOf(failure!)
      expect(failure!.rerunIds).toEqual(options.only)
      const { failed } = await again(options)
      expect(failed.includes(id)).toBe(isShown)
    })
  },
)

test('what its request by itself was answered when the run ended is in the note of a failure', async () => {
  const { first } = await inVirtualTime(() => judgeLive('cold start'))
  const failure = first.of('ai-detect.run/2xx-accepted').failures[0]!
  expect(failure.actual).toBe('500 InternalError')
  expect(evidenceText(failure)).toMatch(
    /^note .*it depends on what was sent before, on the time that has passed, or on chance\. At the end of the run, this request alone got 200 /m,
  )
})

test('a job that is read as ended under the id of another one proves nothing of that one', async () => {
  const { first } = await inVirtualTime(() => judgeLive('newest job'))
  expect(first.failed).not.toContain('jobs.create/409-released')
  expect(first.of('jobs.retrieve/200-failed').reason).toContain('see jobs.retrieve/200-identity')
})

test('a key that is refused from some request on ends the run, and no requirement is to blame', async () => {
  let wrong = 0
  const only = ['translate.run/*', 'files.retrieve/*', 'ai-detect.run/*', 'chat.create/2*']
  const { results, failed, facts } = await judge(only, {
    reference: pace,
    way: async (request, send) => {
      const result = await send()
      if (hasStatus(result, 401)) wrong++
      const isFull = headerOf(request, 'authorization') === `Bearer ${fullKey}`
      return isFull && wrong > 20 ? answered(result, 401, envelope('BadCredentials')) : result
    },
  })
  expect(facts.ended).toEqual({
    cause: 'key',
    reason: expect.stringMatching(
      /^the full key was accepted at first, and is now refused \(GET \/v1\/files got 401 BadCredentials\): if it has expired/,
    ) as string,
  })
  expect(failed).toEqual([])
  expect(results.filter(({ reason }) => reason === facts.ended?.reason).length).toBeGreaterThan(3)
})

test('the curl line of a creation beside a job starts that job first', async () => {
  const id = 'jobs.create/409-job-in-progress'
  const { url, close } = await startReference({ defects: [`${id}#parallel`], slowJobMs: 400 })
  try {
    const { of } = await judgeUrl(url, { options: { only: [id] } })
    const curl = of(id).failures[0]?.exchange?.curl ?? ''
    const env = { ...process.env, CONFORM_API_KEY: fullKey }
    const { stdout } = await promisify(execFile)('bash', ['-c', curl], { env })
    expect(stdout.match(/HTTP\/1\.1 202/g)).toHaveLength(2)
  } finally {
    await close()
  }
})

test.each([
  'jobs.create/202-created#later',
  'jobs.create/409-released#slow',
  'files.list/2xx-accepted#name',
  'graphs.create/400-duplicate-name#few-known',
])('%s: what a whole run fails shows again on a fresh server by its line', async (defect) => {
  const id = defect.replace(/#.*/, '')
  const server = { ...pace, defects: [defect] }
  const [failure] = (await judgeReference(server)).of(id).failures
  const { failed } = await judgeReference(server, { options: optionsOf(failure!) })
  expect(failed, failure!.rerun).toContain(id)
})
