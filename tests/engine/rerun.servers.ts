import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { WireResponse, HttpRequest, HttpResult } from '../../harness/http/message.ts'
import type { Failure, TakesState } from '../../harness/report/report-schema.ts'
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
const plain = (): Live => (request, send) => send(request)
const hasStatus = (result: HttpResult, ...statuses: number[]) =>
  result.kind === 'answer' && statuses.includes(result.status)
const isReading = ({ method, path }: HttpRequest) =>
  method === 'GET' && path.startsWith('/v1/applications/jobs/')
const isCreation = ({ method, path }: HttpRequest) => method === 'POST' && path.endsWith('/jobs')

/** The ended jobs, or the files, whose answer was given once are not found any more. */
const once = (isOne: (request: HttpRequest, result: WireResponse) => boolean) => (): Live => {
  const given = new Set<string>()
  return async (request, send) => {
    const result = await send(request)
    if (!isGranted(result) || !isOne(request, result)) return result
    if (given.has(request.path)) return answered(result, 404, envelope('ResourceNotFound'))
    given.add(request.path)
    return result
  }
}

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

/** After a 403 to a creation its application answers 409, for so long. */
const lockedFor = (ms: number) => (): Live => {
  const until = new Map<string, number>()
  return async (request, send) => {
    const isLocked = isCreation(request) && (until.get(request.path) ?? 0) > performance.now()
    // A body that is refused starts no job.
    const result = await send(isLocked ? { ...request, body: '{' } : request)
    if (isLocked) return answered(result, 409, envelope('BadRequest'))
    if (isCreation(request) && hasStatus(result, 403))
      until.set(request.path, performance.now() + ms)
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

/** Refused uploads break the next ones. */
const brokenByRefusal = (): Live => {
  let isBroken = false
  return async (request, send) => {
    const result = await send(request)
    const isUpload = request.method === 'POST' && request.path.startsWith('/v1/files')
    if (isUpload && hasStatus(result, 400, 413)) isBroken = true
    return isUpload && isBroken && isGranted(result)
      ? answered(result, 500, envelope('InternalError'))
      : result
  }
}

const isEndedJob = (request: HttpRequest, result: WireResponse) =>
  isReading(request) && jsonIn(result).status !== 'in_progress'
const isFile = ({ method, path }: HttpRequest) => method === 'GET' && /^\/v1\/files\/./.test(path)

/** The result of a failure's line on the same server: some failures take a state that the run has changed for good. */
type Again = 'shows it' | 'takes it as it was'
type Row = readonly [id: string, takes: TakesState | undefined, again: Again]

/** A server, what is judged of it, and what fails there. */
interface Servers {
  readonly live?: () => Live
  readonly defects?: readonly string[]
  readonly only: readonly string[]
  readonly rows: readonly Row[]
}

const jobs = ['jobs.*']
const files = ['files.*', 'ai-detect.run/*']

const servers: Readonly<Record<string, Servers>> = {
  'a result that can be read once': {
    live: once(isEndedJob),
    only: jobs,
    rows: [
      ['jobs.retrieve/200-stable', 'job-of-run', 'shows it'],
      ['jobs.retrieve/200-identity', 'job-of-run', 'shows it'],
    ],
  },
  'ids that follow the newest job': {
    live: newestJob,
    only: jobs,
    rows: [
      ['jobs.retrieve/200-identity', 'job-of-run', 'shows it'],
      ['jobs.retrieve/200-created-at', 'job-of-run', 'shows it'],
      ['jobs.retrieve/4xx-unknown-job', undefined, 'shows it'],
    ],
  },
  'a lock after 403': {
    live: lockedFor(3000),
    only: jobs,
    rows: [['jobs.create/4xx-no-effect', 'refusal-before', 'shows it']],
  },
  'a lock after 403 for good': {
    live: lockedFor(Infinity),
    only: jobs,
    rows: [['jobs.create/4xx-no-effect', 'refusal-before', 'takes it as it was']],
  },
  'a file that can be read once': {
    live: once(isFile),
    only: files,
    rows: [['files.upload/2xx-retrievable', 'object-of-run', 'shows it']],
  },
  'a cold start': {
    live: coldStart,
    only: files,
    rows: [['ai-detect.run/2xx-accepted', 'earlier-requests', 'takes it as it was']],
  },
  'a refusal that breaks uploads': {
    live: brokenByRefusal,
    only: files,
    rows: [['files.upload/2xx-attached-to-graph', 'object-of-run', 'takes it as it was']],
  },
  'objects that are lost beside or after others': {
    only: ['graphs.*', 'files.*', 'jobs.create/202-created'],
    defects: [
      'graphs.create/400-duplicate-name#latest-only',
      'graphs.create/2xx-usable#at-once',
      'files.upload/2xx-retrievable#last-only',
      'jobs.create/202-created#later',
    ],
    rows: [
      ['graphs.create/400-duplicate-name', 'object-of-run', 'shows it'],
      ['graphs.create/2xx-usable', 'object-of-run', 'shows it'],
      ['files.upload/2xx-retrievable', 'object-of-run', 'shows it'],
    ],
  },
  ...Object.fromEntries(
    (
      [
        ['jobs.create/409-job-in-progress#parallel', 'job-in-progress', 'shows it'],
        ['jobs.create/409-job-in-progress#other', 'job-in-progress', 'shows it'],
        ['jobs.create/409-job-in-progress#failing', 'job-in-progress', 'shows it'],
        ['files.upload/2xx-retrievable#attached', 'object-of-run', 'shows it'],
        ['jobs.create/409-per-application', 'job-elsewhere', 'shows it'],
        ['jobs.create/409-atomic', 'requests-at-once', 'shows it'],
        // With that requirement alone fewer jobs are made.
        ['jobs.create/409-released#after-third', 'job-before', 'takes it as it was'],
        ['jobs.create/409-released', 'job-before', 'shows it'],
        ['jobs.retrieve/200-outcome', 'endless-job', 'takes it as it was'],
        ['jobs.create/202-created#second-5xx', 'idle-application', 'shows it'],
        ['files.upload/2xx-accepted#pdf', undefined, 'shows it'],
      ] satisfies Row[]
    ).map(([defect, takes, again]) => [
      defect,
      {
        defects: [defect],
        only: defect.startsWith('jobs.') ? jobs : ['files.upload/*', 'pdf.parse/200-content'],
        rows: [[defect.replace(/#.*/, ''), takes, again] as const],
      },
    ]),
  ),
}

/** Reads what a shell would run: the ids and the seed of the line, with names that no run has used before. */
function optionsOf({ rerun }: Failure) {
  const only = [...rerun.matchAll(/ --only (\S+)/g)].map(([, id]) => id!)
  const seed = Number(/^conform.* --seed (\d+)$/.exec(rerun)![1])
  return { only, seed, nonce: 'else' }
}

/** Judges a server, and gives how to judge it once more as it is then. */
async function judgeLive({ live = plain, defects = [], only }: Servers) {
  const reference = createReference({ ...pace, defects })
  const lives = live()
  const again = (options: object) => {
    const transport = via((request, send) => lives(request, send))(transportTo(reference))
    return judgeUrl(reference.url, { transport, options })
  }
  return { first: await again({ only }), again }
}

test.each(Object.entries(servers))(
  '%s: each failure shows again by its line, or says what it takes',
  async (_, one) => {
    await inVirtualTime(async () => {
      const { first, again } = await judgeLive(one)
      for (const [id, takes, expected] of one.rows) {
        const [failure] = first.of(id).failures
        expect(failure, `${id} of ${first.failed.join()}`).toBeDefined()
        expect({ id, takes: failure!.takes }).toEqual({ id, takes })
        expect(
          /^note .*one request alone does not reproduce this: /m.test(evidenceText(failure!)),
        ).toBe(takes !== undefined)
        const options = optionsOf(failure!)
        expect(failure!.rerunIds).toEqual(options.only)
        const { failed } = await again(options)
        const shown: Again = failed.includes(id) ? 'shows it' : 'takes it as it was'
        expect({ id, shown }).toEqual({ id, shown: expected })
      }
    })
  },
)

test('what its request by itself was answered when the run ended is in the note of a failure', async () => {
  const { first } = await inVirtualTime(() => judgeLive(servers['a cold start']!))
  const failure = first.of('ai-detect.run/2xx-accepted').failures[0]!
  expect(failure.actual).toBe('500 InternalError')
  expect(evidenceText(failure)).toMatch(
    /^note .*it depends on what was sent before, on the time that has passed, or on chance\. At the end of the run, this request alone got 200 /m,
  )
})

test('a job that is read as ended under the id of another one proves nothing of that one', async () => {
  const { first } = await inVirtualTime(() => judgeLive(servers['ids that follow the newest job']!))
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
  'jobs.create/409-released#after-third',
  'files.list/2xx-accepted#name',
  'graphs.create/400-duplicate-name#few-known',
])('%s: what a whole run fails shows again on a fresh server by its line', async (defect) => {
  const id = defect.replace(/#.*/, '')
  const server = { ...pace, defects: [defect] }
  const [failure] = (await judgeReference(server)).of(id).failures
  const { failed } = await judgeReference(server, { options: optionsOf(failure!) })
  expect(failed, failure!.rerun).toContain(id)
})
