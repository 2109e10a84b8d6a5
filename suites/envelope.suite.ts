import {
  type Case,
  type Cases,
  contentOf,
  countsAsGranted,
  type GrantedByCases,
  grantedControl,
  isDeclared,
  tryAlso,
  tryEach,
  byAllAnswers,
  materialOf,
  placeholderRequest,
  randomFor,
  sampled,
  sendUntilSettled,
  suite,
  unknownId,
  uploadProbe,
  withOwnContent,
  validRequest,
} from '../harness/checks/index.ts'
import type { Pairs } from '../catalogue/expected.ts'
import { firstOperation, type OperationId, operations } from '../catalogue/operations.ts'
import type { CheckContext, Exchange, Probe, Run, Source } from '../harness/engine/index.ts'
import {
  answered,
  describeResponse,
  wasAnswered,
  envelopeRemark,
  fits,
  isGranted,
  jsonType,
  matchPairs,
  NotExercised,
  withHeader,
  Throttled,
} from '../harness/engine/index.ts'

/** 401 counts here: a server may look at the key, or at nothing at all, before it looks at the path. */
const clientError: Pairs = [['4xx'], [401]]
const expected = 'a 4xx with an error envelope'

/** A request to a route that the interface does not have, with the full key. */
function routeCase(method: string, path: string, what: string): Case {
  const isPost = method === 'POST'
  const body = isPost ? { headers: [jsonType], body: '{}' } : { headers: [] }
  const change = ({ credential }: Probe): Probe => ({
    operation: null,
    method,
    path,
    params: {},
    query: {},
    credential,
    effect: 'none',
    ...body,
  })
  return { what, change }
}

/** Judges routes one after the other; an answer by which the server has such a route is let pass. */
function byRoutes(
  cases: Cases,
  isOwn: (exchange: Exchange) => boolean = () => false,
): GrantedByCases {
  const chosen: Cases = (material) =>
    sampled({ run: material, requirement: material.requirement }, cases(material))
  return {
    cases: chosen,
    async judge(context) {
      const { run, requirement } = context
      const credential = await run.keys.full()
      const material = materialOf(run, requirement, firstOperation)
      for (const { change, what } of chosen(material)) {
        const probe = change({ ...material.valid, credential })
        const exchange = await context.send(probe, {
          skipJudging: 'envelope',
          expects: clientError,
          what,
        })
        if (isOwn(exchange)) continue
        judgeUnknownRoute(context, exchange, what)
      }
      if (context.cases === 0)
        throw new NotExercised(
          'GET is answered with a 2xx on every path that the interface has for POST alone',
        )
    },
  }
}

function judgeUnknownRoute(context: CheckContext, exchange: Exchange, what: string): void {
  answered(exchange)
  context.cases++
  const whole = fits(exchange, 'error-envelope')
  if (whole && matchPairs(clientError, exchange.response) === 'exact') return
  context.fail(
    exchange,
    expected,
    what,
    describeResponse(exchange) + envelopeRemark(clientError, exchange.response),
  )
}

const unknownPath = byRoutes((material) => {
  const random = randomFor({ run: material, requirement: material.requirement })
  const path = `/v1/${unknownId('no-such-operation-aaaaaaaaa', random, new Set())}`
  const what = 'at a path that the interface does not have'
  return [
    routeCase('GET', path, what),
    routeCase('POST', path, what),
    routeCase('GET', `${path}%zz`, `${what}, with a broken escape`),
  ]
})

const unsupportedMethod = byRoutes(
  ({ target }) => {
    const listed: readonly string[] = operations
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => path)
    const paths = operations
      .filter(({ method, path }) => method === 'POST' && !path.includes('{'))
      .filter(({ id, path }) => !listed.includes(path) && target.absent[id] === undefined)
      .map(({ path }) => path)
    if (paths.length === 0)
      throw new NotExercised('the target serves no path that the interface has for POST alone')
    const what = 'with a method that the interface does not have there'
    return paths.map((path) => routeCase('GET', path, what))
  },
  ({ response }) => response !== undefined && response.status >= 200 && response.status < 300,
)

/** White space after the JSON of a refused request, and the text of an upload, in bytes. */
const padding = 256 * 1024
const largeText = 2 * 1024 * 1024
const smallest = 100

/** A large request, or one like it of another size. */
type Sized = (size?: number) => Promise<Probe>

/** A request that is refused whatever its size: a body of another type than its operation takes, for an object that does not exist. */
function largeRefusal(run: Run, id: OperationId): Sized {
  return async (space = padding) => ({
    ...(await placeholderRequest(run, id)),
    body: `"text"${' '.repeat(space)}`,
    fault: 'body: large',
  })
}

async function largeUpload(run: Run, size = largeText): Promise<Probe> {
  const declared = contentOf(run)
  const bytes = Buffer.from('All about tea, at length. '.repeat(size / 26 + 1).slice(0, size))
  return uploadProbe(run, withOwnContent(run, { ...declared, bytes, contentType: 'text/plain' }))
}

/** Judges that the service answers large bodies itself: a gateway may refuse them by a page or a closed connection. */
async function tryLargeBodies(context: CheckContext): Promise<void> {
  const { run } = context
  if (!run.keys.hasFull) throw new NotExercised('no key: only requests that need no key were sent')
  const taken = operations.filter(
    ({ id, body }) => body === 'json' && run.target.absent[id] === undefined,
  )
  const refusals = taken.map(({ id }) => largeRefusal(run, id))
  const canUpload = run.target.operations['files.upload']?.content && !run.options.readOnly
  const uploads = canUpload ? [(size?: number) => largeUpload(run, size)] : []
  const all = sampled(context, [...refusals, ...uploads])
  if (all.length === 0)
    throw new NotExercised('no operation with a JSON body is served and no upload is declared')
  await tryEach(all, (make) => tryAlso(context, () => tryLarge(context, make)))
}

/** Anything else may be due to what its connection carried before, and is looked at again. */
function isAnsweredLarge({ response }: Exchange): boolean {
  return (
    response !== undefined && (isGranted(response) || matchPairs(clientError, response) === 'exact')
  )
}

async function tryLarge(context: CheckContext, make: Sized): Promise<void> {
  const probe = await make()
  const purpose = { isSuccess: isAnsweredLarge, expects: clientError }
  const exchange = await context.send(() => make(), purpose)
  const what =
    probe.operation === 'files.upload'
      ? 'with 2 MiB of text'
      : 'with 256 KiB of white space after its body'
  const wanted = 'a 2xx, or a 4xx in an envelope'
  const { response } = exchange
  if (!response && !exchange.unansweredTwice) throw new NotExercised(describeResponse(exchange))
  if (exchange.throttled) throw new Throttled(describeResponse(exchange))
  const isAnswered = isAnsweredLarge(exchange)
  // The same answer to a small one, or none, is not about the size.
  const small = isAnswered ? undefined : await context.send(() => make(smallest))
  if (small && small.response?.status === response?.status)
    throw new NotExercised(`a small request is answered alike: ${describeResponse(small)}`)
  context.cases++
  if (isAnswered) return
  if (!response) context.fail(exchange, wanted, what)
  context.fail(
    exchange,
    wanted,
    what,
    describeResponse(exchange) + envelopeRemark(clientError, response),
  )
}

/** The valid requests of operations that generate nothing, labelled with the only charset that JSON has. */
async function tryCharset(context: CheckContext): Promise<void> {
  const { run } = context
  if (!run.keys.hasFull) throw new NotExercised('no key: only requests that need no key were sent')
  const served = operations
    .filter(
      ({ body, effect }) =>
        body === 'json' && effect !== 'generates' && !(run.options.readOnly && effect !== 'none'),
    )
    .filter(({ id }) => run.target.absent[id] === undefined && isDeclared(run, id))
    // Those that create nothing either come first: of a quick run one is enough.
    .toSorted((one, other) => Number(one.effect === 'creates') - Number(other.effect === 'creates'))
  for (const { id } of served) {
    if (context.cases > 0 && run.options.depth === 'quick') return
    await tryAlso(context, () => tryLabel(context, id))
  }
  if (served.length === 0)
    throw new NotExercised(
      'declare an operation that generates nothing: pdf.parse, ai-detect.run, web-search.run, ...',
    )
}

async function tryLabel(context: CheckContext, id: OperationId): Promise<void> {
  const { run } = context
  context.control = (await grantedControl(run, id)).state
  const plain = (): Promise<Probe> => validRequest(run, id)
  const make = async () =>
    withHeader(await plain(), 'content-type', 'application/json; charset=utf-8')
  const purpose = { isSuccess: countsAsGranted, what: labelled }
  const sendOne = (source: Source) => context.send(source, purpose)
  // A copy may not know a fresh upload yet.
  const send = async () => sendUntilSettled(run, await sendOne(make), sendOne, countsAsGranted)
  let exchange = await send()
  // A request that is refused without it too, or granted the next time, proves nothing about the charset.
  for (let look = 2; look < 4 && !countsAsGranted(exchange); look++) {
    // One more in each look: in a fixed order what fails every second time would seem to be that of the charset.
    for (let count = 0; count < look; count++) {
      const again = await context.send(plain)
      if (!countsAsGranted(again)) throw new NotExercised(`${id} ${wasAnswered(again)}`)
    }
    exchange = await send()
  }
  answered(exchange)
  context.cases++
  if (!countsAsGranted(exchange)) context.fail(exchange, 'a 2xx', labelled)
}

const labelled = 'with a valid request labelled application/json; charset=utf-8'

// §2.6, §7.1 to §7.4: one error format for every operation

export const envelope = suite('envelope', () => ({
  shape: byAllAnswers,
  'status-tpe-pair': byAllAnswers,
  'content-type': byAllAnswers,
  'message-keys': byAllAnswers,
  'bad-input-no-5xx': byAllAnswers,
  'large-body': tryLargeBodies,
  'charset-parameter': tryCharset,
  'unknown-path': unknownPath,
  'unsupported-method': unsupportedMethod,
}))
