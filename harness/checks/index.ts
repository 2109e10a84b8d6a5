// A suite, and what a run needs besides.
export { bringsBody } from './changed-by-scenario.ts'
export { type KnownCases, suite, type Suite } from './suite.ts'
export { createdHook } from './created.ts'
export { envelopeHook, judgeObserved, observedCases } from './envelope-watch.ts'
export { notServedHook } from './not-served.ts'

// Refusals: a valid request with one fault.
export { condition, type RefusalContext } from './refusals.ts'
export {
  byCases,
  type Case,
  type Cases,
  type CaseCondition,
  controlName,
  countAll,
  countGenerating,
  judgeAll,
  judgeCase,
  judgeGenerated,
  type Material,
  materialOf,
} from './case.ts'
export { refused, unknown, unknownIdCases, withBody } from './conditions.ts'
export { malformedBody, malformedJsonBody, missingBody, wrongContentType } from './conditions.ts'
export { byRecord } from './by-record.ts'
export { badBytes, badInput, withBytes } from './bad-input.ts'
export { judgeAlso, judgeEach, property, samples } from './at-once.ts'
export { characters, plainer } from './odd-values.ts'

// What a history shows.
export { judgeVerdict } from './judge-by.ts'

// What is granted.
export {
  control,
  controlExchange,
  controlWith,
  nameOfControl,
  counterpartOf,
  countsAsGranted,
  grantedControl,
  noteControl,
  notGranted,
  operationIn,
} from './control.ts'
export { requireOfInput } from './breaks-anyway.ts'
export {
  accepted,
  byControl,
  controlCase,
  granted,
  grantedBy,
  type GrantedByCases,
  type GrantedCheck,
  grantedProbe,
  judgeTries,
  respelled,
} from './granted.ts'

// What a scenario brings about.
export { asScenario, byScenario, type Further } from './scenario.ts'
export { grantedByScenario, inScenario } from './granted.ts'

// The request that an operation grants.
export {
  bodyOf,
  contentOf,
  declaresMore,
  draftRequest,
  declaredResource,
  isDeclared,
  placeholderRequest,
  validRequest,
} from './valid-request.ts'
export { additionOf, applyScenario, distinctRequest, withoutRoles } from './valid-request.ts'

// Objects that a run creates.
export { namedId, uploadsOf } from './created.ts'
export {
  freshFilename,
  resendAsDeclared,
  upload,
  uploadProbe,
  withOwnContent,
  judgeRefused,
  wronglyRefused,
} from './upload.ts'
export { laterAttempts, resendWhile, retryWhileSettling, sendUntilSettled } from './created.ts'
export { holdBack, sendAtOnce } from './at-once.ts'

// Values, drawn by the seed of the run or fixed.
export {
  freshUnknownId,
  randomFor,
  randomOf,
  sampled,
  seedFor,
  unknownId,
  unknownWord,
} from './values.ts'
export { inPlaceOf, type Known, kindOf, ofKindsAny, sample, shown } from './values.ts'

// Changes of members, for bodies in which they depend on each other.
export {
  absent,
  type Change,
  change,
  changedBody,
  caseOf,
  inOtherItem,
  ofKinds,
  ofOtherTypes,
} from './changes.ts'
export {
  arraysAbove,
  atRole,
  type PickItem,
  type Placed,
  placesIn,
  pointerOf,
  valueAt,
} from './places.ts'
