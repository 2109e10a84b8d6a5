import fc from 'fast-check'
import { generatedKeysOn } from '../../catalogue/every-operation.ts'
import { operations, operation } from '../../catalogue/operations.ts'
import { property } from '../../harness/checks/property.ts'
import type { Credential, Probe } from '../../harness/engine/probe.ts'
import { refused } from '../../harness/checks/conditions.ts'
import { condition, type RefusalContext } from '../../harness/checks/refusals.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { invalidForms, type KeyForm, malformedForms } from './key-forms.ts'

/**
 * §4.4 names a second path for some operations. Whether a server has it is its own affair, but it must not serve there
 * without a key what it refuses on the other: any 4xx will do, and so will a redirect.
 */
async function judgeOtherPaths({ context, operation: id }: RefusalContext, probe: Probe): Promise<void> {
  const { path, otherPaths } = operation(id)
  for (const other of [path, ...otherPaths]) {
    if (other === probe.path) continue
    const exchange = await context.send({ ...probe, path: other }, { unobserved: true })
    const status = exchange.answer?.status
    // What was not answered shows nothing, and the usual path is judged anyway.
    if (status === undefined || exchange.throttled) continue
    context.cases++
    if (status >= 300 && status < 500) continue
    context.fail(exchange, 'any 4xx except 429: the other path must not be served without a key either', withoutKey)
  }
}

const withoutKey = 'without an Authorization header'

/** Operations on which every form is sent even to a target that wants few; on the others one of each kind, in rotation. */
const thorough: readonly string[] = ['pdf.parse', 'jobs.create', 'jobs.retrieve']

/** No `Authorization` header at all. */
export const noCredential: Credential = { shown: '', full: false }

/** The request with that credential in place of its own; a conforming target refuses it. */
export function withCredential(probe: Probe, credential: Credential): Probe {
  return refused({ ...probe, credential })
}

async function judgeForms(refusal: RefusalContext, forms: readonly KeyForm[]): Promise<void> {
  const { operation, context } = refusal
  const place = operations.findIndex(({ id }) => id === operation)
  const few = context.run.target.limits.credentialProbes === 'few' && !thorough.includes(operation)
  const sent = few ? forms.filter((_, at) => at === place % forms.length) : forms
  if (sent.length === 0) throw new NotExercised('every form of the full key equals a declared key')
  for (const { credential } of sent) context.run.keys.learn(credential)
  for (const { credential, what } of sent) await refusal.judge(withCredential(await refusal.valid(), credential), what)
}

export const missing = condition(async (refusal) => {
  const { valid, judge } = refusal
  const probe = withCredential(await valid(), noCredential)
  await judgeOtherPaths(refusal, probe)
  await judge(probe, 'without an Authorization header')
})

export const malformed = condition(async (refusal) => {
  const { context, valid, judge, operation } = refusal
  await judgeForms(refusal, malformedForms(await context.run.keys.fullKey()))
  const served = generatedKeysOn.find((id) => context.run.target.absent[id] === undefined)
  if (operation !== served) return
  const word = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 1000,
    size: 'max',
  })
  await property(context, 'refusalRuns', word, async (key) =>
    judge(
      withCredential(await valid(), { value: `Bearer ${key}`, shown: `Bearer ${key}`, full: false }),
      'with a key that is not a JWT',
    ),
  )
})

export const invalid = condition(async (refusal) => {
  const { keys } = refusal.context.run
  const full = await keys.fullKey()
  if (full === undefined) throw new NotExercised('no key: the suite makes an invalid key from the full key')
  const expiredKey = await keys.expiredKey()
  await judgeForms(refusal, invalidForms({ full, expired: expiredKey, all: await keys.declared() }))
})

export const expired = condition(async ({ valid, judge, context }) => {
  const credential = await context.run.keys.expired()
  await judge(withCredential(await valid(), credential), 'with an expired key')
})

export const restricted = condition(async ({ valid, judge, context, operation }) => {
  const credential = await context.run.keys.restricted(operation)
  await judge(withCredential(await valid(), credential), 'with a key that lacks the permission')
})
