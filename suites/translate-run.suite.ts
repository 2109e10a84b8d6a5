import { accepted } from '../harness/checks/granted.ts'
import { condition } from '../harness/checks/refusals.ts'
import { at, eachAt, empty, notText, ofOtherTypes, unknownAt } from '../harness/checks/roles.ts'
import { suite } from '../harness/checks/suite.ts'

/** A word that is no language, and values that are no text. */
const unsupportedLanguage = condition(async (refusal) => {
  await unknownAt('source', 'target').bringAbout(refusal)
  const faults = ofOtherTypes(['number', 'boolean', 'array', 'object'])
  await eachAt({ role: 'source', faults }, { role: 'target', faults }).bringAbout(refusal)
})

// Translation (§4.4, §7.3)

export const translateRun = suite('translate.run', {
  '2xx-accepted': accepted,
  '400-unsupported-language': unsupportedLanguage,
  '400-empty-text': at('text', empty),
  '400-malformed-text': at('text', notText),
})
