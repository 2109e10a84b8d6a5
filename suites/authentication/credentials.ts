import fc from 'fast-check'
import {
  allFormsOn,
  everyTurn,
  isFormOn,
  isSentToOtherPaths,
  turnOf,
} from '../../catalogue/faults.ts'
import { requirementById } from '../../catalogue/catalogue.ts'
import { pairsOf } from '../../catalogue/answers.ts'
import { generatedKeysOn } from '../../catalogue/general.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import {
  type Case,
  type CaseCondition,
  type Generated,
  type MadeCases,
  type Material,
  ofOtherObject,
  otherObjects,
  refused,
} from '../checks/case.ts'
import {
  type Credential,
  type Exchange,
  isOpen,
  type Open,
  type Probe,
  open,
} from '../../harness/journal/index.ts'
import type { Client, DeclaredKeys } from '../../harness/client/index.ts'
import type { KeySource, Secret, Target } from '../../harness/target/index.ts'
import { elsewhere, queryIn, type Wrong, keyless } from './elsewhere.ts'
import { givesOf, invalidForms, malformedForms, noCredential } from './key-forms.ts'

/** The request with another credential; a conforming target refuses it. */
export const withCredential = (probe: Probe, credential: Credential): Probe =>
  refused({ ...probe, credential })

const anyKey = `${btoa('{"alg":"HS256"}')}.${btoa('{"exp":1}')}.${'s'.repeat(43)}`

/** The keys, as far as known before anything is sent. */
function keysIn(target: Target, operation: OperationId): DeclaredKeys {
  const known = (source: KeySource | undefined): Secret | undefined =>
    source && { label: source.label, value: 'value' in source ? source.value : anyKey }
  const { full, expired, restricted } = target.keys
  return {
    full: known(full),
    expired: known(expired),
    restricted: known(restricted[operation]),
    all: new Set(),
  }
}

/** Wrong credentials; open if the target declares no key that they are made of. */
type Forms<T extends readonly Wrong[] = readonly Wrong[]> = (
  keys: DeclaredKeys,
  operation: OperationId,
  turn: number,
) => T | Open

export function byKeys<T extends readonly Wrong[]>(
  forms: Forms<T>,
  sent: (material: Material, forms: T) => MadeCases,
  generated?: Generated,
): CaseCondition {
  const casesBy = (material: Material, keys: DeclaredKeys): MadeCases => {
    const { operation, options } = material
    const all = forms(keys, operation, turnOf(operation, options.seed))
    return isOpen(all) ? all : sent(material, all)
  }
  return {
    generated,
    cases: (material) => casesBy(material, keysIn(material.target, material.operation)),
    recorded({ target, operation }) {
      const keys = keysIn(target, operation)
      const all = Array.from({ length: everyTurn }, (_, turn) => forms(keys, operation, turn))
      const wrong = all.flatMap((one): readonly Wrong[] => (isOpen(one) ? [] : one))
      return [...new Map(wrong.map((one) => [one.credential.value, one])).values()].map(ownCase)
    },
    async casesIn(known, context, make) {
      const valid = await make()
      if (isOpen(valid)) return valid
      return casesBy({ ...known, valid }, await context.given.keys.declared(known.operation))
    },
  }
}

/** At its own path. */
const ownCase = ({ what, kind, credential, expects }: Wrong): Case => ({
  what,
  faults: [{ part: 'key', kind }],
  expects,
  change: (valid) => withCredential(valid, credential),
})

function wantsFew({ target, options, operation }: Material): boolean {
  const isThorough = options.depth === 'full' && allFormsOn.includes(operation)
  return (options.depth === 'quick' || target.limits.credentialProbes === 'few') && !isThorough
}

export function inForms(material: Material, all: readonly Wrong[]): MadeCases {
  const { operation, options } = material
  const turn = turnOf(operation, options.seed)
  const forms = all.filter((one) => isFormOn(operation, one.kind, turn))
  const sent = wantsFew(material) ? forms.filter((_, at) => at === turn % forms.length) : forms
  if (sent.length === 0) return open('every form of the full key equals a declared key')
  const query = queryIn(material)
  const own = sent.map((one, at): Case => {
    const plain = ownCase(one)
    const change = (valid: Probe): Probe => {
      const probe = plain.change(valid)
      // A documented query may have its own route: every second form is sent with it.
      return (at + turn) % 2 ? { ...probe, query: { ...probe.query, ...query } } : probe
    }
    return { ...plain, change }
  })
  if (wantsFew(material)) return own
  const at = turn % sent.length
  const atOther = sent.filter((one) => isSentToOtherPaths(one.kind))
  // A server that checks keys also checks their form: one form suffices elsewhere.
  const once = ['one spelling', 'other body', 'uuid in the other letter case'] as const
  return [
    ...own,
    ...atOther.flatMap((one) => elsewhere(material, one, 'other path')),
    ...once.flatMap((where) => elsewhere(material, sent[at]!, where)),
    // The first one is accepted by any server that does not check keys there.
    ...forOthers(material, own[0]!),
  ]
}

/** A server may check keys only for objects that it knew before. */
const forOthers = (material: Material, one: Case): Case[] =>
  otherObjects(material).map((other) => ofOtherObject({ ...one, when: 'after the others' }, other))

/** A credential without forms: first at its own path, where a failure ends a run with --bail; then everywhere. */
export function everywhere(material: Material, [wrong]: readonly [Wrong]): Case[] {
  const own = ownCase(wrong)
  if (wantsFew(material)) return [own]
  // A POST gets several requests without a key anyway.
  const isRepeated = wrong === keyless && material.valid.method === 'GET'
  // Sent twice more, after other requests: a cache or connection may remember the key, and replicas alternate.
  const times = isRepeated ? ['at the end of the run', 'once more at the end of the run'] : []
  return [
    own,
    ...elsewhere(material, wrong, wrong === keyless ? 'all' : 'each'),
    ...forOthers(material, own),
    ...times.map((time): Case => ({ ...own, what: `${wrong.what}, ${time}`, when: 'at the end' })),
  ]
}

export const bearer = (secret: Secret): Credential => ({
  value: `Bearer ${secret.value}`,
  shown: `Bearer ${secret.label}`,
  full: false,
})

export const missing = (): [Wrong] => [keyless]

export function expired({ expired: key }: DeclaredKeys): [Wrong] | Open {
  if (!key) return open('declare keys.expired')
  return [{ what: 'with an expired key', kind: 'expired key', credential: bearer(key) }]
}

export function restricted(keys: DeclaredKeys, operation: OperationId): [Wrong] | Open {
  if (!keys.restricted) return open(`declare keys.restricted (for ${operation})`)
  const what = 'with a key that lacks the permission'
  return [{ what, kind: 'restricted key', credential: bearer(keys.restricted) }]
}

const word = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 1000,
  size: 'max',
})

const wordAsKey = (key: string): Case => ({
  what: 'with a key that is not a JWT',
  expects: givesOf(key),
  change: (valid) => withCredential(valid, bearer({ value: key, label: key })),
})

export const malformed: Forms = ({ full }, _, turn) => malformedForms(full, turn)

export const anyWord: Generated = (one) => {
  const served = generatedKeysOn.find((id) => one.target.absent[id] === undefined)
  return one.operation === served ? word.map(wordAsKey) : undefined
}

export const invalid: Forms = ({ full, ...keys }, _, number) =>
  full
    ? invalidForms({ full, ...keys, number })
    : open('no key: the suite makes an invalid key from the full key')

/** Requests without a key for other requirements, such as attacks on a lock, must be refused as well. */
export function failKeyless(client: Client, exchange: Exchange): void {
  const { probe, purpose, response } = exchange
  if (probe.operation === null || probe.credential !== noCredential) return
  const id = `${probe.operation}/401-missing-credentials` as const
  const isServed = response?.isGranted === true
  if (!isServed || purpose.requirement === id) return
  const expected = pairsOf(requirementById[id], probe.operation)
  client.findings.onTraffic.set(id, { exchange, what: keyless.what, expected })
}
