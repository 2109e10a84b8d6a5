export { suite, type Suite } from './suite.ts'
export {
  failUnsteady,
  noteSteady,
  endIfAlike,
  byAllAnswers,
  watchEnvelope,
  observedCase,
  observedRequirements,
} from './observed.ts'

// Refusals: a valid request with one fault.
export {
  type Case,
  type CaseCondition,
  type Cases,
  type Condition,
  type Sender,
  controlName,
  countAll,
  countGenerating,
  type KnownCases,
  type Material,
  materialOf,
  byCases,
  ofOtherObject,
  otherObjects,
  sendable,
} from './case.ts'
export { allOf, type CaseRule, type CaseVerdict, generatedBy } from './rules.ts'
export { concluded, findingVerdict, furtherCase, isOver, joined, type Judged } from './rules.ts'
export { answerRule, judgeSome, type Look, lookAt, pairsVerdict, requestFor } from './rules.ts'
export {
  refused,
  unknown,
  unknownIdCases,
  withBody,
  malformedBody,
  malformedJsonBody,
  missingBody,
  wrongContentType,
  byRecord,
} from './conditions.ts'
export { badInput, badBytes, withBytes, characters, plainer } from './bad-input.ts'
export {
  inBatches,
  freshFilename,
  resendAsDeclared,
  upload,
  uploadProbe,
  withOwnContent,
  noteCreated,
  noteLag,
  laterAttempts,
  namedId,
  once,
  resendWhile,
  retryWhileSettling,
  settlingRemark,
  sharedBy,
  sendAtOnce,
} from './created.ts'

export {
  control,
  controlExchange,
  grantedControl,
  nameOfControl,
  whyNotOfInput,
  operationIn,
} from './control.ts'
export {
  accepted,
  byControl,
  controlCase,
  granted,
  grantedBy,
  type GrantedByCases,
  grantedByScenario,
  type GrantedCheck,
  grantedProbe,
  inScenario,
  grantedVerdict,
  respelled,
  wronglyRefused,
} from './granted.ts'
export { asScenario, byScenario, type Further } from './scenario.ts'

// The request that an operation grants.
export {
  additionOf,
  applyScenario,
  bodyOf,
  bringsBody,
  contentOf,
  declaredResource,
  declaresMore,
  distinctRequest,
  draftRequest,
  isDeclared,
  makeOne,
  placeholderRequest,
  validRequest,
  withoutRoles,
} from './valid-request.ts'

// Values, drawn by the seed of the run or fixed.
export {
  anyText,
  freshUnknownId,
  inPlaceOf,
  type Known,
  kindOf,
  ofKindsAny,
  type OfTarget,
  randomFor,
  randomOf,
  sample,
  sampled,
  seedFor,
  shown,
  unknownId,
  unknownWord,
} from './values.ts'

// Changes of members, for bodies in which they depend on each other.
export {
  absent,
  caseOf,
  type Change,
  change,
  changedBody,
  inOtherItem,
  ofKinds,
  ofOtherTypes,
  arraysAbove,
  atRole,
  type PickItem,
  type Placed,
  placesIn,
  pointerOf,
  valueAt,
} from './changes.ts'
