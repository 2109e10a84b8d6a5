import type { HttpAnswer, HttpRequest, NoAnswer } from '../../harness/http/message.ts'
import { type Alter, answered, type Given } from './alteration.ts'
import { differ, envelope, textOf, withBody, withContentType } from './answer.ts'
import type { Exchanged, Past } from './traffic.ts'

/** What is wrong is not the form of an answer, but what it has to do with its request. */
interface StateChange {
  readonly name: string
  /** What it answers, if it is an answer from before. */
  readonly earlier?: (past: Past) => HttpAnswer | undefined
  /** False if it cannot be made there, or would be one of the others. */
  fits(right: HttpAnswer, past: Past): boolean
  readonly alter: (status: number) => Alter
}

const isGranted = ({ status }: HttpAnswer): boolean => status < 300

/** `200`, `400 BadRequest` */
function pairOf(answer: HttpAnswer): string {
  const tpe = isGranted(answer) ? undefined : /"tpe":"(\w+)"/.exec(textOf(answer))?.[1]
  return tpe === undefined ? String(answer.status) : `${answer.status} ${tpe}`
}

/** Of refusals, status and `tpe` tell them apart. */
function saysOther(one: HttpAnswer, other: HttpAnswer): boolean {
  return isGranted(one) ? differ(one, other) : pairOf(one) !== pairOf(other)
}

const failed = (answer: HttpAnswer): HttpAnswer =>
  withContentType(withBody({ ...answer, status: 500 }, envelope), 'application/json')

const lost = ({ sentAt, endedAt }: HttpAnswer): NoAnswer => ({
  kind: 'no-answer',
  cause: 'reset',
  message: 'lost',
  staleConnection: false,
  sentAt,
  endedAt,
})

function renamed(request: HttpRequest, from: string, to: string): HttpRequest {
  const { path, body } = request
  return {
    ...request,
    path: path.replaceAll(from, to),
    ...(typeof body === 'string' ? { body: body.replaceAll(from, to) } : {}),
  }
}

/** Asks for another object than the one that the request names. */
function elsewhere(status: number, ownName: boolean): Alter {
  return async ({ asked, past: { objects }, ask }) => {
    if (!objects) return { result: await ask(), changed: false }
    const { named, other } = objects
    const result = await ask(renamed(asked.request, named, other))
    if (result.kind !== 'answer' || result.status !== status) return { result, changed: true }
    const text = textOf(result)
    return { result: ownName ? withBody(result, text.replaceAll(other, named)) : result, changed: true }
  }
}

/** Answers as another run was answered, in which the effect came about. */
const notDone: Alter = async ({ asked, recorded, ask }: Given) => {
  const result = recorded.get(asked.signature)
  return result ? { result, changed: true } : { result: await ask(), changed: false }
}

/** Gives the right refusal, and does once more what was granted last. */
const doneAllTheSame =
  (status: number): Alter =>
  async ({ past: { granted }, ask }) => {
    const result = await ask()
    if (!granted || result.kind !== 'answer' || result.status !== status) return { result, changed: false }
    await ask(granted.request)
    return { result, changed: true }
  }

/** Does what is asked, and answers as before. */
function repeated(
  name: string,
  which: (past: Past) => Exchanged | undefined,
  fits: (right: HttpAnswer, earlier: Exchanged, past: Past) => boolean,
): StateChange {
  return {
    name,
    earlier: (past) => which(past)?.answer,
    fits(right, past) {
      const earlier = which(past)
      return earlier !== undefined && fits(right, earlier, past)
    },
    alter: (status) => answered(status, (_, { past }) => which(past)?.answer),
  }
}

/** Answers a request that should be granted for another object than the one it names. */
const mistaken = (name: string, ownName: boolean): StateChange => ({
  name,
  fits: (right, { objects }) => isGranted(right) && objects !== undefined,
  alter: (status) => elsewhere(status, ownName),
})

/** Changes of any operation. */
const ofAll: readonly StateChange[] = [
  repeated(
    'the answer before it, again',
    ({ last }) => last,
    (right, { answer }) => saysOther(answer, right),
  ),
  repeated(
    'granted as the last that was',
    ({ granted }) => granted,
    (right, granted, { last }) => !isGranted(right) && granted !== last,
  ),
  repeated(
    'done, and refused as the last that was',
    ({ refused }) => refused,
    (right, refused, { last }) => isGranted(right) && refused !== last,
  ),
  { name: 'done, and 500', fits: isGranted, alter: (status) => answered(status, failed) },
  { name: 'done, and no answer', fits: isGranted, alter: (status) => answered(status, lost) },
  mistaken('the answer for another object', false),
  mistaken('the answer for another object, under the name of this one', true),
]

/** Changes of an operation that makes something. */
const ofCreations: readonly StateChange[] = [
  { name: 'granted, and not done', fits: isGranted, alter: () => notDone },
  {
    name: 'refused, and done all the same',
    fits: (right, { granted }) => !isGranted(right) && granted !== undefined,
    alter: doneAllTheSame,
  },
]

/** A change of state; `name` says too which pair one answer would be given in place of its own, `kind` does not. */
export interface StateChangeOfAnswer {
  readonly name: string
  readonly kind: string
  readonly alter: Alter
}

/** Every change of state that can be made at that answer. */
export function stateChangesOf(right: HttpAnswer, past: Past, creates: boolean): StateChangeOfAnswer[] {
  return [...ofAll, ...(creates ? ofCreations : [])]
    .filter((change) => change.fits(right, past))
    .map(({ name: kind, earlier, alter }) => {
      const answer = earlier?.(past)
      return { name: answer ? `${kind}: ${pairOf(answer)}` : kind, kind, alter: alter(right.status) }
    })
}
