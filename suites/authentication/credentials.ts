import fc from 'fast-check'
import { allFormsOn, isFormOn, isSentToOtherPaths, turnOf } from '../../catalogue/faults.ts'
import type { RefusalContext } from '../../harness/checks/index.ts'
import { condition, judgeEach, property, refused } from '../../harness/checks/index.ts'
import type { Credential, Probe } from '../../harness/engine/index.ts'
import { NotExercised } from '../../harness/engine/index.ts'
import { judgeElsewhere, queryIn } from './elsewhere.ts'
import { givesOf, invalidForms, type KeyForm, malformedForms, noCredential } from './key-forms.ts'
import { generatedKeysOn } from '../../catalogue/general.ts'
import { credentialProbesIn } from './probes.ts'

/** The request with that credential in place of its own; a conforming target refuses it. */
export function withCredential(probe: Probe, credential: Credential): Probe {
  return refused({ ...probe, credential })
}

function wantsFew({ context, operation }: RefusalContext): boolean {
  const { target, options } = context.run
  const isThorough = options.depth === 'full' && allFormsOn.includes(operation)
  return credentialProbesIn(target, options) === 'few' && !isThorough
}

async function judgeForms(refusal: RefusalContext, all: readonly KeyForm[]): Promise<void> {
  const { context, valid, judge, operation } = refusal
  const turn = turnOf(operation, context.run.options.seed)
  const forms = all.filter(({ kind }) => isFormOn(operation, kind, turn))
  const few = wantsFew(refusal)
  const sent = few ? forms.filter((_, at) => at === turn % forms.length) : forms
  if (sent.length === 0) throw new NotExercised('every form of the full key equals a declared key')
  for (const { credential } of sent) context.run.keys.learn(credential)
  const query = queryIn(context)
  await judgeEach([...sent.entries()], async ([at, { credential, what, kind, expects }]) => {
    const probe = withCredential(await valid(), credential)
    // A query that the spec shows may have a route of its own: every second form is sent with it.
    const own = (at + turn) % 2 ? { ...probe.query, ...query } : probe.query
    await judge({ ...probe, query: own, fault: kind }, what, expects)
    if (!few && isSentToOtherPaths(kind))
      await judgeElsewhere(context, probe, { what, kind }, 'other path')
  })
  const [form] = sent.slice(turn % sent.length)
  if (few || !form) return
  // A server that checks keys at all checks their form: elsewhere one of them is enough.
  for (const where of [{ turn }, 'other body', 'uuid in the other letter case'] as const)
    await judgeElsewhere(context, withCredential(await valid(), form.credential), form, where)
}

/** A credential without forms: at every place. */
const everywhere = (
  what: string,
  kind: string,
  credentialOf: (refusal: RefusalContext) => Promise<Credential>,
) =>
  condition(async (refusal) => {
    const probe = withCredential(await refusal.valid(), await credentialOf(refusal))
    const places = kind === 'no credential' ? 'all' : 'each'
    // Its own path first: what fails there is told, and ends a run that ends at the first failure, before anything else is sent.
    await refusal.judge({ ...probe, fault: kind }, what)
    if (wantsFew(refusal)) return
    await judgeElsewhere(refusal.context, probe, { what, kind }, places)
    // To a POST more than one request without a key is sent anyway.
    if (kind !== 'no credential' || probe.method !== 'GET') return
    refusal.context.atEnd = () => judgeAtEnd(refusal, what)
  })

/** Twice more when others have been answered: a cache, or the connection, may know them by then, and replicas take turns. */
async function judgeAtEnd({ valid, judge }: RefusalContext, what: string): Promise<void> {
  for (const time of ['at the end of the run', 'once more at the end of the run'])
    await judge(withCredential(await valid(), noCredential), `${what}, ${time}`)
}

export const missing = everywhere(
  'without an Authorization header',
  'no credential',
  async () => noCredential,
)

export const expired = everywhere('with an expired key', 'expired key', ({ context }) =>
  context.run.keys.expired(),
)

export const restricted = everywhere(
  'with a key that lacks the permission',
  'restricted key',
  (refusal) => refusal.context.run.keys.restricted(refusal.operation),
)

export const malformed = condition(async (refusal) => {
  const { context, valid, judge, operation } = refusal
  await judgeForms(
    refusal,
    malformedForms(await context.run.keys.fullKey(), turnOf(operation, context.run.options.seed)),
  )
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
      withCredential(await valid(), {
        value: `Bearer ${key}`,
        shown: `Bearer ${key}`,
        full: false,
      }),
      'with a key that is not a JWT',
      givesOf(key),
    ),
  )
})

export const invalid = condition(async (refusal) => {
  const { keys } = refusal.context.run
  const full = await keys.fullKey()
  if (full === undefined)
    throw new NotExercised('no key: the suite makes an invalid key from the full key')
  const [expired, restricted] = [
    await keys.expiredKey(),
    await keys.restrictedKey(refusal.operation),
  ]
  await judgeForms(
    refusal,
    invalidForms({
      full,
      expired,
      restricted,
      all: await keys.declared(),
      number: turnOf(refusal.operation, refusal.context.run.options.seed),
    }),
  )
})
