import { countsAsGranted } from '../../harness/checks/control.ts'
import { createdId } from '../../harness/checks/created.ts'
import { accepted, grantedProbe, inScenario } from '../../harness/checks/granted.ts'
import { retryWhileSettling } from '../../harness/checks/settling.ts'
import { validRequest } from '../../harness/checks/valid-request.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { isBreakdown } from '../../harness/engine/answer.ts'
import { describeAnswer } from '../../harness/engine/describe.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import { perRun, type Run } from '../../harness/engine/run.ts'
import { answered, type Judge, type CheckContext } from '../../harness/engine/check-context.ts'
import { refused } from '../../harness/checks/conditions.ts'
import { condition } from '../../harness/checks/refusals.ts'
import { at, ofOtherTypes } from '../../harness/checks/roles.ts'

/** The request that creates the object which a row is about: that of the row's scenario, if there is one. */
export function ownCreation(context: CheckContext, operation: OperationId): () => Promise<Probe> {
  return grantedProbe(context, operation, () => validRequest(context.run, operation))
}

/** Creates an object for a row and gives its id; throws `NotExercised` if that is refused, or no id is named. */
export async function createObject(
  context: CheckContext,
  operation: OperationId,
  make?: () => Promise<Probe>,
): Promise<string> {
  const { run } = context
  const creation = await context.send(make ?? (() => validRequest(run, operation)), { role: 'setup' })
  if (!countsAsGranted(creation)) notCreated(context, creation, 'the creation')
  const id = createdId(run, creation)
  if (id === undefined)
    throw new NotExercised(`the answer names no id at operations.${operation}.fields.id: ${describeAnswer(creation)}`)
  return id
}

/** Valid creations of a run that broke the server, or were granted with an envelope. */
const wrongCreations = perRun((): Exchange[] => [])

/** Throws `NotExercised`; what is wrong with the creation itself is told by what is granted. */
function notCreated({ run, row }: CheckContext, creation: Exchange, which: string): never {
  const { answer } = creation
  const isWrong = answer !== undefined && (answer.status < 300 || isBreakdown(answer))
  if (isWrong && !run.target.scenarios[row.id]) wrongCreations(run).push(creation)
  answered(creation)
  throw new NotExercised(`${which} was answered ${describeAnswer(creation)}`)
}

/** Not only the control is granted, but each valid creation of the run. */
export const eachAccepted: Judge = async (context) => {
  await accepted(context)
  if (context.run.target.scenarios[context.row.id]) return
  for (const creation of wrongCreations(context.run)) {
    if (creation.probe.operation !== context.row.operation) continue
    context.shownBy = creation.purpose.requirement
    context.cases++
    context.fail(creation, '2xx, as another creation was answered', 'with a valid request')
  }
}

/** How an object is used that an operation creates. */
interface Use {
  readonly creates: OperationId
  /** A request that names the object of that id, fresh each time. */
  request(run: Run, id: string): Promise<Probe>
  /** `in the path, the id of a graph that was just created` */
  readonly what: string
  /** Sees each answer. */
  seen?(run: Run, id: string, exchange: Exchange): void
}

/** What was created is not there, or breaks the server. */
function isUnusable({ answer }: Exchange): boolean {
  return answer !== undefined && ([404, 410].includes(answer.status) || answer.status >= 500)
}

/** What was created can be used at once, or at the latest `settleMs` later: any answer will do but 404, 410 and 5xx. */
export function usable({ creates, request, what, seen }: Use): Judge {
  return (context) =>
    inScenario(context, creates, async () => {
      const { run } = context
      const id = await createObject(context, creates, ownCreation(context, creates))
      const attempt = async (): Promise<Exchange> => {
        const exchange = await context.send(() => request(run, id))
        seen?.(run, id, exchange)
        return exchange
      }
      const exchange = await retryWhileSettling(run, attempt, (each) => !isUnusable(each))
      answered(exchange)
      context.cases++
      if (isUnusable(exchange)) context.fail(exchange, `neither 404 nor 410 nor a 5xx, ${settled(run)}`, what)
    })
}

/** By when what was created has to be there. */
export function settled({ target }: Run): string {
  return `at the latest ${target.limits.settleMs} ms after its creation (limits.settleMs)`
}

/** A name that is no string. Whether one may be absent is not shown. */
export const malformedName = at('name', ofOtherTypes(['number', 'boolean', 'array', 'object']))

/** The same creation twice: the second meets the name of the first. */
export const duplicateName = condition(async ({ context, valid, judge }) => {
  // A first creation that is sent once more takes another name: the last one sent is the one that exists.
  const first = await context.send(valid, { role: 'setup' })
  if (!countsAsGranted(first)) notCreated(context, first, 'the first creation')
  await judge(refused(first.probe), 'with the name of an object that exists')
})
