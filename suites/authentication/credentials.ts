import fc from 'fast-check'
import { allFormsOn, isFormOn, isSentToOtherPaths, turnOf } from '../../catalogue/faults.ts'
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
  type Probe,
  open,
} from '../../harness/journal/index.ts'
import type { Client, DeclaredKeys, Given } from '../../harness/client/index.ts'
import { isPlanned } from '../../harness/run/index.ts'
import type { KeySource, Secret, Target } from '../../harness/target/index.ts'
import { elsewhere, queryIn, type Wrong, keyless } from './elsewhere.ts'
import { givesOf, invalidForms, type KeyForm, malformedForms, noCredential } from './key-forms.ts'

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

type KeyCases = (material: Material, keys: DeclaredKeys) => MadeCases

export function byKeys(cases: KeyCases, generated?: Generated): CaseCondition {
  return {
    generated,
    cases: (material) => cases(material, keysIn(material.target, material.operation)),
    async casesIn(known, context, make) {
      const valid = await make()
      if (isOpen(valid)) return valid
      return cases({ ...known, valid }, await context.given.keys.declared(known.operation))
    },
  }
}

function wantsFew({ target, options, operation }: Material): boolean {
  const isThorough = options.depth === 'full' && allFormsOn.includes(operation)
  return (options.depth === 'quick' || target.limits.credentialProbes === 'few') && !isThorough
}

function inForms(material: Material, all: readonly KeyForm[]): MadeCases {
  const { operation, options } = material
  const turn = turnOf(operation, options.seed)
  const forms = all.filter((one) => isFormOn(operation, one.kind, turn))
  const sent = wantsFew(material) ? forms.filter((_, at) => at === turn % forms.length) : forms
  if (sent.length === 0) return open('every form of the full key equals a declared key')
  const query = queryIn(material)
  const own = sent.map(({ credential, what, kind, expects }, at): Case => {
    const change = (valid: Probe): Probe => {
      const probe = withCredential(valid, credential)
      // A documented query may have its own route: every second form is sent with it.
      return (at + turn) % 2 ? { ...probe, query: { ...probe.query, ...query } } : probe
    }
    return { what, faults: [{ part: 'key', kind }], expects, change }
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
function everywhere(material: Material, wrong: Wrong): Case[] {
  const { what, kind, credential } = wrong
  const own: Case = {
    what,
    faults: [{ part: 'key', kind }],
    change: (valid) => withCredential(valid, credential),
  }
  if (wantsFew(material)) return [own]
  // A POST gets several requests without a key anyway.
  const isRepeated = wrong === keyless && material.valid.method === 'GET'
  // Sent twice more, after other requests: a cache or connection may remember the key, and replicas alternate.
  const times = isRepeated ? ['at the end of the run', 'once more at the end of the run'] : []
  return [
    own,
    ...elsewhere(material, wrong, wrong === keyless ? 'all' : 'each'),
    ...forOthers(material, own),
    ...times.map((time): Case => ({ ...own, what: `${what}, ${time}`, when: 'at the end' })),
  ]
}

export const bearer = (secret: Secret): Credential => ({
  value: `Bearer ${secret.value}`,
  shown: `Bearer ${secret.label}`,
  full: false,
})

export const missing: KeyCases = (material) => everywhere(material, keyless)

export const expired: KeyCases = (material, one) => {
  if (!one.expired) return open('declare keys.expired')
  const credential = bearer(one.expired)
  return everywhere(material, { what: 'with an expired key', kind: 'expired key', credential })
}

export const restricted: KeyCases = (material, one) => {
  if (!one.restricted) return open(`declare keys.restricted (for ${material.operation})`)
  const what = 'with a key that lacks the permission'
  const credential = bearer(one.restricted)
  return everywhere(material, { what, kind: 'restricted key', credential })
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

export const malformed: KeyCases = (material, one) =>
  inForms(material, malformedForms(one.full, turnOf(material.operation, material.options.seed)))

export const anyWord: Generated = (one) => {
  const served = generatedKeysOn.find((id) => one.target.absent[id] === undefined)
  return one.operation === served ? word.map(wordAsKey) : undefined
}

export const invalid: KeyCases = (material, { full, ...keys }) => {
  if (!full) return open('no key: the suite makes an invalid key from the full key')
  const number = turnOf(material.operation, material.options.seed)
  return inForms(material, invalidForms({ full, ...keys, number }))
}

/** Requests without a key for other requirements, such as attacks on a lock, must be refused as well. */
export function failKeyless(client: Client, given: Given, exchange: Exchange): void {
  const { probe, purpose, response } = exchange
  if (probe.operation === null || probe.credential !== noCredential) return
  const id = `${probe.operation}/401-missing-credentials` as const
  const isServed = response?.isGranted === true
  if (!isServed || purpose.requirement === id || !isPlanned(given, id)) return
  const expected = pairsOf(requirementById[id], probe.operation)
  client.findings.onTraffic.set(id, { exchange, what: keyless.what, expected })
}
