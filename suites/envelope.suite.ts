import type { Pairs } from '../catalogue/answers.ts'
import {
  firstOperation,
  type OperationId,
  operations,
  uploadOperation,
} from '../catalogue/operations.ts'
import { type Given, jsonType } from '../harness/client/index.ts'
import {
  countsAsGranted,
  describeResponse,
  envelopeRemark,
  type Exchange,
  isOpen,
  type Making,
  matchPairs,
  type Open,
  type Verdict,
  wasAnswered,
  withChange,
  withHeader,
  open,
  lookAt,
} from '../harness/journal/index.ts'
import { type CheckContext, fits, type Judge, settle, whySilent } from '../harness/run/index.ts'
import type { Target } from '../harness/target/index.ts'
import { type Case, type Cases, type JudgedCases, materialOf } from './checks/case.ts'
import { uploadProbe, withOwnContent } from './checks/created.ts'
import { byAllAnswers } from './checks/observed.ts'
import {
  allOf,
  answerRule,
  type CaseRule,
  type CaseVerdict,
  concluded,
  furtherCase,
  held,
  type Judged,
  requestFor,
} from './checks/rules.ts'
import { suite } from './checks/suite.ts'
import {
  contentOf,
  isDeclared,
  placeholderRequest,
  validRequest,
  requireControl,
} from './checks/valid-request.ts'
import { randomFor, sampled, unknownId } from './checks/random.ts'

/** 401 counts: a server may check the key, or nothing, before the path. */
const clientError: Pairs = [['4xx'], [401]]

const routeCase = (method: string, path: string, what: string): Case => ({
  what,
  change: (valid) => ({
    operation: null,
    method,
    path,
    params: {},
    query: {},
    headers: method === 'POST' ? [jsonType] : [],
    credential: valid.credential,
    effect: 'none',
    ...(method === 'POST' && { body: '{}' }),
  }),
})

function byRoutes(cases: Cases, isOwn: (exchange: Exchange) => boolean = () => false): JudgedCases {
  const chosen: Cases = (material) => {
    const all = cases(material)
    return isOpen(all) ? all : sampled(material, material.requirement.id, all)
  }
  return {
    cases: chosen,
    async judge(context): Promise<Verdict> {
      const { client, given, requirement } = context
      const credential = await given.keys.full()
      const material = materialOf(given, requirement, firstOperation)
      if (isOpen(material)) return material
      const all = chosen(material)
      if (isOpen(all)) return all
      const ruleOf = (one: Case, at: number): CaseRule => {
        const probe = one.change({ ...material.valid, credential })
        const purpose = { skipJudging: 'envelope', expects: clientError, what: one.what } as const
        const request = requestFor(context, `route ${at}`, probe, purpose)
        return {
          judge: answerRule(context, request, (exchange) =>
            isOwn(exchange) ? { outcome: 'held', cases: 0 } : routeVerdict(exchange, one.what),
          ),
        }
      }
      const verdict = await settle(client, allOf(all.map(ruleOf)))
      const why = 'GET returns a 2xx on every path that the interface only has for POST'
      const isEmpty = verdict.outcome === 'held' && verdict.cases === 0
      return isEmpty ? open(why) : verdict
    },
  }
}

function routeVerdict(exchange: Exchange, what: string): CaseVerdict {
  const isRight = matchPairs(clientError, exchange.response!) === 'exact'
  return isRight && fits(exchange, 'error-envelope')
    ? held
    : wrongAnswer(exchange, 'a 4xx with an error envelope', what)
}

function wrongAnswer(exchange: Exchange, expected: string, what: string): CaseVerdict {
  const { response } = exchange
  const remark = response && envelopeRemark(clientError, response)
  const actual = remark === undefined ? undefined : describeResponse(exchange) + remark
  return { outcome: 'broken', evidence: { exchange, what, expected, actual } }
}

const unknownPaths: Cases = (material) => {
  const random = randomFor(material, material.requirement.id)
  const path = `/v1/${unknownId('no-such-operation-aaaaaaaaa', random, new Set())}`
  const what = 'at a path that the interface does not have'
  return [
    routeCase('GET', path, what),
    routeCase('POST', path, what),
    routeCase('GET', `${path}%zz`, `${what}, with a broken escape`),
  ]
}

/** The operations that the target serves. */
const served = (target: Target) => operations.filter((one) => target.absent[one.id] === undefined)

/** GET on paths without an id that only have POST; a server may offer it as an extension. */
const unsupportedMethods: Cases = (one) => {
  const listed = operations
    .filter((operation) => operation.method === 'GET')
    .map((operation) => operation.path)
  const paths = served(one.target)
    .filter(({ method, path }) => method === 'POST' && !/\{/.test(path) && !listed.includes(path))
    .map((one) => one.path)
  if (paths.length === 0)
    return open('the target serves no path that the interface only has for POST')
  const what = 'with a method that the interface does not have there'
  return paths.map((path) => routeCase('GET', path, what))
}

const isSuccess = ({ response }: Exchange): boolean =>
  response !== undefined && response.status >= 200 && response.status < 300

/** White space after the JSON of a refused request, and text of an upload, in bytes. */
const padding = 256 * 1024
const largeText = 2 * 1024 * 1024
const smallest = 100

type Sized = (size?: number) => Making

const withoutKey: Open = open('no key: only requests that need no key were sent')

/** A request refused at any size: a body of a wrong type, for an unknown object. */
const largeRefusal =
  (given: Given, id: OperationId): Sized =>
  async (space = padding) => ({
    ...(await placeholderRequest(given, id)),
    body: `"text"${' '.repeat(space)}`,
    fault: 'body: large',
  })

const largeUpload =
  (given: Given): Sized =>
  async (size = largeText) => {
    const bytes = Buffer.from('All about tea, at length. '.repeat(size / 26 + 1).slice(0, size))
    const content = contentOf(given)
    if (isOpen(content)) return content
    const file = { ...content, bytes, contentType: 'text/plain' }
    return uploadProbe(given, withOwnContent(given, file))
  }

/** Judges that the service answers large bodies itself; a gateway may return a page or close the connection. */
const largeBodies: Judge = async (context): Promise<Verdict> => {
  const { client, given, requirement } = context
  if (!given.keys.hasFull) return withoutKey
  const refusals = served(given.target)
    .filter((one) => one.body === 'json')
    .map((one) => largeRefusal(given, one.id))
  const canUpload = given.target.operations[uploadOperation]?.content && !given.options.readOnly
  const all = sampled(given, requirement.id, [
    ...refusals,
    ...(canUpload ? [largeUpload(given)] : []),
  ])
  if (all.length === 0)
    return open('no operation with a JSON body is served and no upload is declared')
  return settle(client, allOf(all.map((make, at) => largeRule(context, make, at))))
}

/** Other answers may be caused by an earlier request on the connection, and are checked again. */
const isAnsweredLarge = (exchange: Exchange): boolean =>
  exchange.response !== undefined &&
  (exchange.response.isGranted || matchPairs(clientError, exchange.response) === 'exact')

function largeRule(context: CheckContext, make: Sized, at: number): CaseRule {
  const known = context.client.known
  const purpose = { isSuccess: isAnsweredLarge, expects: clientError }
  const large = requestFor(context, `large ${at}`, () => make(), purpose)
  const small = requestFor(context, `small ${at}`, () => make(smallest), {})
  return {
    isFurther: true,
    judge(journal): CaseVerdict {
      const seen = lookAt(journal, large, known)
      if (seen.outcome !== 'answered') return seen
      const { exchange } = seen
      const why = exchange.unansweredTimes ? undefined : whySilent(exchange)
      if (why) return open(why)
      if (isAnsweredLarge(exchange)) return held
      // The same answer to a small request, or none, is unrelated to the size.
      const other = lookAt(journal, small, known)
      if (other.outcome !== 'answered') return other
      const reason = `not tested: a small request gets the same answer: ${describeResponse(other.exchange)}`
      if (other.exchange.response?.status === exchange.response?.status) return open(reason)
      const isUpload = exchange.probe.operation === uploadOperation
      const what = isUpload ? 'with 2 MiB of text' : 'with 256 KiB of white space after its body'
      return wrongAnswer(exchange, 'a 2xx, or a 4xx in an envelope', what)
    },
  }
}

const labelled = 'with a valid request labelled application/json; charset=utf-8'

/** Valid requests of operations that generate nothing, labelled with JSON's only charset. */
const tryCharset: Judge = async (context) => {
  const { given } = context
  if (!given.keys.hasFull) return withoutKey
  const possible = served(given.target)
    .filter((one) => one.body === 'json' && isDeclared(given, one.id))
    .filter(
      (one) => one.effect === 'none' || (one.effect !== 'generates' && !given.options.readOnly),
    )
    // Those that create nothing come first: a quick run needs only one.
    .toSorted((one, other) => Number(one.effect !== 'none') - Number(other.effect !== 'none'))
  if (possible.length === 0)
    return open('declare an operation that does not generate text, for example ai-detect.run')
  const seen: Judged[] = []
  const isOver = (judged: Judged): boolean =>
    judged.outcome === 'broken' || (judged.outcome === 'held' && given.options.depth === 'quick')
  for (const { id } of possible)
    if (!seen.some(isOver)) seen.push(await furtherCase(labelVerdict(context, id)))
  return concluded(seen)
}

async function labelVerdict(context: CheckContext, id: OperationId): Promise<CaseVerdict> {
  const { client, given } = context
  const control = await requireControl(context, id)
  if (isOpen(control)) return control
  const plain = () => validRequest(client, given, id)
  const label = 'application/json; charset=utf-8'
  const make = () => withChange(plain(), (valid) => withHeader(valid, 'content-type', label))
  const purpose = { isSuccess: countsAsGranted, what: labelled }
  const send = () => context.send(make, purpose)
  let exchange = await send()
  // A request that is refused without the charset too, or accepted the next time, proves nothing.
  for (let look = 2; look < 4 && !isOpen(exchange) && !countsAsGranted(exchange); look++) {
    // One more per attempt: with a fixed order, alternating failures would seem to depend on the charset.
    for (let count = 0; count < look; count++) {
      const again = await context.send(plain)
      if (isOpen(again)) return again
      if (!countsAsGranted(again)) return open(`${id} ${wasAnswered(again)}`)
    }
    exchange = await send()
  }
  if (isOpen(exchange)) return exchange
  const why = whySilent(exchange)
  if (why) return open(why)
  return countsAsGranted(exchange) ? held : wrongAnswer(exchange, 'a 2xx', labelled)
}

// §2.6, §7.1 to §7.4: one error format for every operation

export const envelope = suite('envelope', () => ({
  shape: byAllAnswers,
  'status-tpe-pair': byAllAnswers,
  'content-type': byAllAnswers,
  'message-keys': byAllAnswers,
  'bad-input-no-5xx': byAllAnswers,
  'large-body': largeBodies,
  'charset-parameter': tryCharset,
  'unknown-path': byRoutes(unknownPaths),
  'unsupported-method': byRoutes(unsupportedMethods, isSuccess),
}))
