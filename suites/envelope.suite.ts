import type { Pairs } from '../catalogue/answers.ts'
import { operations } from '../catalogue/operations.ts'
import { randomOf, sampled, seedFor } from '../harness/checks/seed.ts'
import { unknownId } from '../harness/checks/unknown-id.ts'
import type { Exchange } from '../harness/engine/exchange.ts'
import { envelopeRemark, matchPairs } from '../harness/engine/answer.ts'
import { describeAnswer } from '../harness/engine/describe.ts'
import type { Probe } from '../harness/engine/probe.ts'
import { NotExercised } from '../harness/engine/outcome.ts'
import type { Target } from '../harness/target/model.ts'
import { fits } from '../harness/checks/shapes.ts'
import { answered, type CheckContext } from '../harness/engine/check-context.ts'
import { judgeObserved } from '../harness/checks/judge-observed.ts'
import { suite } from '../harness/checks/suite.ts'

/** 401 counts here: a server may look at the key, or at nothing at all, before it looks at the path. */
const clientError: Pairs = [['4xx'], [401]]
const expected = 'a 4xx with an error envelope'

async function sendUnknownRoute(context: CheckContext, method: string, path: string): Promise<Exchange> {
  const json =
    method === 'POST' ? { headers: [{ name: 'content-type', value: 'application/json' }], body: '{}' } : { headers: [] }
  const probe: Probe = {
    operation: null,
    method,
    path,
    params: {},
    query: {},
    credential: await context.run.keys.full(),
    effect: 'none',
    ...json,
  }
  return context.send(probe, { unjudged: 'envelope', expects: clientError })
}

function judgeUnknownRoute(context: CheckContext, exchange: Exchange, what: string): void {
  answered(exchange)
  context.cases++
  const whole = fits(exchange, 'error-envelope')
  if (whole && matchPairs(clientError, exchange.answer) === 'exact') return
  context.fail(exchange, expected, what, describeAnswer(exchange) + envelopeRemark(clientError, exchange.answer))
}

const methods = ['GET', 'POST'] as const

/** A path under /v1 that the interface does not have. */
async function judgeUnknownPath(context: CheckContext): Promise<void> {
  const random = randomOf(seedFor(context.run.options.seed, context.row.id))
  const name = unknownId('no-such-operation-aaaaaaaaa', random, new Set())
  for (const method of methods) {
    judgeUnknownRoute(
      context,
      await sendUnknownRoute(context, method, `/v1/${name}`),
      'at a path that the interface does not have',
    )
  }
}

/** The POST-only paths without an id, of the operations that the target serves. */
function postOnlyPaths(target: Target): string[] {
  const listed: readonly string[] = operations.filter(({ method }) => method === 'GET').map(({ path }) => path)
  return operations
    .filter(
      ({ id, method, path }) =>
        method === 'POST' && !path.includes('{') && !listed.includes(path) && target.absent[id] === undefined,
    )
    .map(({ path }) => path)
}

/** GET on those paths; if a server has that method, it is one beyond the interface. */
async function judgeUnsupportedMethod(context: CheckContext): Promise<void> {
  for (const path of sampled(context, postOnlyPaths(context.run.target))) {
    const exchange = await sendUnknownRoute(context, 'GET', path)
    const status = exchange.answer?.status ?? 0
    if (status >= 200 && status < 300) continue
    judgeUnknownRoute(context, exchange, 'with a method that the interface does not have there')
  }
  if (context.cases === 0)
    throw new NotExercised('the target answers GET on every such path with a 2xx: it has that method')
}

// §2.6, §7.1 to §7.4: one error format for every operation

export const envelope = suite('envelope', {
  shape: judgeObserved('envelope/shape'),
  'status-tpe-pair': judgeObserved('envelope/status-tpe-pair'),
  'content-type': judgeObserved('envelope/content-type'),
  'message-keys': judgeObserved('envelope/message-keys'),
  'bad-input-no-5xx': judgeObserved('envelope/bad-input-no-5xx'),
  'unknown-path': judgeUnknownPath,
  'unsupported-method': judgeUnsupportedMethod,
})
