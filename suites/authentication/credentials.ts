import fc from 'fast-check'
import { allFormsOn, generatedKeysOn } from '../../catalogue/every-operation.ts'
import { isSentToOtherPaths } from '../../catalogue/faults.ts'
import { numberOf } from '../../catalogue/operations.ts'
import { judgeEach } from '../../harness/checks/at-once.ts'
import { property } from '../../harness/checks/property.ts'
import type { Credential, Probe } from '../../harness/engine/probe.ts'
import { refused } from '../../harness/checks/conditions.ts'
import { condition, type RefusalContext } from '../../harness/checks/refusals.ts'
import { credentialProbesIn } from '../../harness/engine/estimate.ts'
import { NotExercised } from '../../harness/engine/outcome.ts'
import { judgeElsewhere } from './elsewhere.ts'
import { givesOf, invalidForms, type KeyForm, malformedForms, noCredential } from './key-forms.ts'

/** The request with that credential in place of its own; a conforming target refuses it. */
export function withCredential(probe: Probe, credential: Credential): Probe {
  return refused({ ...probe, credential })
}

function wantsFew({ context, operation }: RefusalContext): boolean {
  const { target, options } = context.run
  const isThorough = options.depth === 'full' && allFormsOn.includes(operation)
  return credentialProbesIn(target, options) === 'few' && !isThorough
}

async function judgeForms(refusal: RefusalContext, forms: readonly KeyForm[]): Promise<void> {
  const { context, valid, judge } = refusal
  const few = wantsFew(refusal)
  const place = numberOf(refusal.operation)
  const sent = few ? forms.filter((_, at) => at === place % forms.length) : forms
  if (sent.length === 0) throw new NotExercised('every form of the full key equals a declared key')
  for (const { credential } of sent) context.run.keys.learn(credential)
  await judgeEach(sent, async ({ credential, what, kind, expects }) => {
    const probe = withCredential(await valid(), credential)
    await judge({ ...probe, fault: kind }, what, expects)
    if (!few && isSentToOtherPaths(kind)) await judgeElsewhere(context, probe, { what, kind }, 'other path')
  })
  const [form] = sent.slice(place % sent.length)
  if (few || !form) return
  // Whoever looks at a key at all looks at its form: elsewhere one of them tells enough.
  await judgeElsewhere(context, withCredential(await valid(), form.credential), form, { turn: place })
}

/** A credential without forms: at every place. */
async function judgeEverywhere(refusal: RefusalContext, credential: Credential, what: string, kind: string) {
  const probe = withCredential(await refusal.valid(), credential)
  const places = kind === 'no credential' ? 'all' : 'each'
  // Its own path first: what fails there is told, and ends a run that ends at the first failure, before anything else is sent.
  await refusal.judge({ ...probe, fault: kind }, what)
  if (!wantsFew(refusal)) await judgeElsewhere(refusal.context, probe, { what, kind }, places)
}

export const missing = condition((refusal) =>
  judgeEverywhere(refusal, noCredential, 'without an Authorization header', 'no credential'),
)

export const malformed = condition(async (refusal) => {
  const { context, valid, judge, operation } = refusal
  await judgeForms(refusal, malformedForms(await context.run.keys.fullKey(), numberOf(refusal.operation)))
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
      givesOf(key),
    ),
  )
})

export const invalid = condition(async (refusal) => {
  const { keys } = refusal.context.run
  const full = await keys.fullKey()
  if (full === undefined) throw new NotExercised('no key: the suite makes an invalid key from the full key')
  const [expired, restricted] = [await keys.expiredKey(), await keys.restrictedKey(refusal.operation)]
  await judgeForms(refusal, invalidForms({ full, expired, restricted, all: await keys.declared() }))
})

export const expired = condition(async (refusal) => {
  const credential = await refusal.context.run.keys.expired()
  await judgeEverywhere(refusal, credential, 'with an expired key', 'expired key')
})

export const restricted = condition(async (refusal) => {
  const credential = await refusal.context.run.keys.restricted(refusal.operation)
  await judgeEverywhere(refusal, credential, 'with a key that lacks the permission', 'restricted key')
})
