import { anyBadRequest } from '../catalogue/answers.ts'
import { jsonOf, open } from '../harness/journal/index.ts'
import { shapeFinding } from '../harness/run/index.ts'
import { badBytes, withBytes } from './checks/bad-input.ts'
import { byCases, inMember } from './checks/case.ts'
import { atRole, pointerOf, valueAt } from './checks/changes.ts'
import { byRecord } from './checks/faults.ts'
import { accepted, controlled } from './checks/granted.ts'
import { suite } from './checks/suite.ts'

/** Invalid UTF-8: a lone continuation, a truncated sequence, impossible bytes. */
const sequences: readonly (readonly [string, readonly number[]])[] = [
  ['a lone continuation byte', [0x80]],
  ['a sequence that is cut', [0xc3, 0x28]],
  ['bytes that never occur', [0xff, 0xfe]],
]

const badEncoding = byCases((material) => {
  if (pointerOf(material, material.operation, 'prompt') === undefined)
    return open(`declare operations.${material.operation}.fields.prompt`)
  return sequences.map(([what, bytes]) => ({
    what: `with a valid body, but a prompt in invalid UTF-8 (${what})`,
    faults: [inMember('value', '{prompt}')],
    change(valid) {
      const probe = atRole(material, valid, 'prompt', badBytes)
      return { ...probe, body: withBytes(String(probe.body), bytes) ?? '' }
    },
  }))
})

/** §2.8 shows entities only for response_type Entities. */
const ofEntities = 'with response_type Entities'

const entities = controlled({
  what: ofEntities,
  expected: 'a 2xx with entities',
  check(given, exchange) {
    const type = valueAt(given, 'medical.comprehend', 'response_type', jsonOf(exchange.probe))
    return type === 'Entities'
      ? shapeFinding(exchange, 'medical-entities')
      : { reason: 'declare a body of medical.comprehend with response_type Entities' }
  },
})

export const tools = {
  // Text generation (§7.3)
  'completion.create': suite('completion.create', () => ({
    '2xx-accepted': accepted,
    '400-unsupported-model': byRecord(),
    '400-malformed-request': byRecord({ otherTypes: { at: '{prompt}', expects: anyBadRequest } }),
    '400-empty-prompt': byRecord(),
    '400-bad-encoding': badEncoding,
    '400-invalid-temperature': byRecord(),
    '400-invalid-max-tokens': byRecord(),
    '400-invalid-parameter': byRecord(),
  })),

  // AI detection (§4.4, §7.3)
  'ai-detect.run': suite('ai-detect.run', () => ({
    '2xx-accepted': accepted,
    '400-empty-text': byRecord(),
    '400-malformed-text': byRecord(),
  })),

  // Web search (§4.4, §7.3)
  'web-search.run': suite('web-search.run', () => ({
    '2xx-accepted': accepted,
    '400-empty-query': byRecord(),
    '400-malformed-query': byRecord(),
  })),

  // Medical text analysis (deprecated; §2.8)
  'medical.comprehend': suite('medical.comprehend', () => ({
    '200-entities': entities,
    '400-malformed-request': byRecord(),
  })),

  // Translation (§4.4, §7.3)
  'translate.run': suite('translate.run', () => ({
    '2xx-accepted': accepted,
    '400-unsupported-language': byRecord(),
    '400-empty-text': byRecord(),
    '400-malformed-text': byRecord(),
  })),

  // Image analysis (§2.8, §7.3)
  'vision.analyze': suite('vision.analyze', () => ({
    '2xx-accepted': accepted,
    '4xx-unknown-file': byRecord(),
    '400-malformed-request': byRecord(),
  })),
}
