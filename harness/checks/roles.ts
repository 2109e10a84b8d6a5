import type { Pairs } from '../../catalogue/requirement.ts'
import { type JsonKind, roleOf } from '../../catalogue/operation.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { judgeEach } from './at-once.ts'
import { randomOf, sampled, seedFor } from './seed.ts'
import { falsy, inPlaceOf, nameOfKind, sample } from './values.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import { isUuid } from '../../schemas/formats.ts'
import { jsonOf, NotExercised, type Probe, type Run } from '../engine/index.ts'
import { type Fault, withBody } from './conditions.ts'
import { type Condition, condition } from './refusals.ts'

/** The pointer of a declared role; undefined if it is not declared and has no default. */
export function pointerOf(run: Run, operation: OperationId, role: string): string | undefined {
  return run.target.operations[operation]?.fields[role]
}

export function valueAt(run: Run, operation: OperationId, role: string, body: unknown): unknown {
  return getAt(body, pointerOf(run, operation, role) ?? `/${role}`)
}

/** The valid body with another value at the role; the member is added if the body lacks it, and removed for `undefined`. */
export function atRole(run: Run, probe: Probe, role: string, value: unknown): Probe {
  const pointer = probe.operation === null ? undefined : pointerOf(run, probe.operation, role)
  if (pointer === undefined) throw new NotExercised(`declare operations.${probe.operation}.fields.${role}`)
  return withBody(probe, setAt(jsonOf(probe), pointer, value))
}

/** Each value by itself at one of several roles; roles that are not declared are left out, and one of them must be. */
export function eachAt(...groups: readonly { readonly role: string; readonly faults: readonly Fault[] }[]): Condition {
  return condition(async ({ context, operation, valid, judge }) => {
    const declared = groups.filter(({ role }) => pointerOf(context.run, operation, role) !== undefined)
    if (declared.length === 0) {
      throw new NotExercised(`declare one of the roles ${groups.map(({ role }) => role).join(', ')}`)
    }
    const cases = declared.flatMap(({ role, faults }) => faults.map((fault) => ({ role, ...fault })))
    await judgeEach(sampled(context, cases), async ({ role, what, value, expects, fault = '' }) => {
      const at = operationOf(operation).members.find((member) => roleOf(member) === role)?.at ?? role
      const granted = await valid()
      const own = valueAt(context.run, operation, role, jsonOf(granted))
      const probe = atRole(context.run, granted, role, inPlaceOf(own, value))
      await judge({ ...probe, fault: `${fault} @ ${at}` }, `with a valid body, but ${role} ${what}`, expects)
    })
  })
}

export function at(role: string, faults: readonly Fault[]): Condition {
  return eachAt({ role, faults })
}

/** @param values in place of the samples */
export function ofOtherTypes(kinds: readonly JsonKind[], values: Partial<Record<JsonKind, unknown>> = {}): Fault[] {
  return kinds.map((kind) => ({ what: `is ${nameOfKind(kind)}`, value: values[kind] ?? sample[kind], fault: kind }))
}

/**
 * Values that are no text; an array is not sent, since a server may take several texts. A number that is made a text is one that
 * is true, and what is skipped because it is false is `false`.
 */
export const notText: readonly Fault[] = ofOtherTypes(['number', 'boolean', 'object'], { boolean: falsy.boolean })

/** Faults that the spec answers by other pairs than the rest of their requirement. */
export function giving(expects: Pairs, faults: readonly Fault[]): readonly Fault[] {
  return faults.map((fault) => ({ ...fault, expects }))
}

/** A word of 12 letters that names nothing: drawn from the seed. */
export function unknownWord(run: Run, name: string): string {
  const random = randomOf(seedFor(run.options.seed, name))
  return Array.from({ length: 12 }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('')
}

/** An unknown word, and what begins like the known value: a server may compare no more than its beginning. */
export function unknownWords(word: string, known: unknown): Fault[] {
  const like = typeof known === 'string' && known !== '' && known.length <= longestKnown ? [known + word] : []
  return [
    { what: `is the unknown ${word}`, value: word, fault: 'value' },
    ...like.map((value) => ({ what: `is the unknown ${value}`, value, fault: 'lengthened' })),
  ]
}

/** Longest value that is lengthened by a word. */
const longestKnown = 52

/** Names of two or three letters (languages), and longer ones with digits: with fewer letters another one may be known. */
const hasOwnForm = /^[A-Za-z]{2,3}([-_]|$)|([A-Za-z][^A-Za-z]*){4}/

/** A word of the form of a known one, which nothing is called: a server may look at no more than the form. */
function unknownOfForm(word: string, known: unknown): string {
  if (typeof known !== 'string' || !hasOwnForm.test(known) || isUuid(known) || known.length > longestKnown) return word
  return known.replaceAll(/[a-z]/g, 'q').replaceAll(/[A-Z]/g, 'Q')
}

/** An unknown word at a role, of the form of what stands there, and one that begins like what stands there; the word is given at each role twice. */
export function unknownAt(...roles: readonly string[]): Condition {
  return condition(async (refusal) => {
    const { context, operation, valid } = refusal
    const word = unknownWord(context.run, context.requirement.id)
    const body = jsonOf(await valid())
    const ofForm = (role: string): string => unknownOfForm(word, valueAt(context.run, operation, role, body))
    const faultsAt = (role: string): Fault[] => unknownWords(ofForm(role), valueAt(context.run, operation, role, body))
    await eachAt(...roles.map((role) => ({ role, faults: faultsAt(role) }))).bringAbout(refusal)
    // A quick run does not send every word.
    if (context.run.options.depth === 'quick') return
    // Whoever looks a word up may remember it once that was answered.
    const again = (value: string): Fault => ({
      what: `is the unknown ${value}, asked for again`,
      value,
      fault: 'again',
    })
    await eachAt(...roles.map((role) => ({ role, faults: [again(ofForm(role))] }))).bringAbout(refusal)
  })
}

export const empty: readonly Fault[] = [{ what: 'is empty', value: '', fault: 'empty' }]
