import { examplePlace, roleOf } from '../../catalogue/operation.ts'
import {
  isOperationId,
  type OperationId,
  operation as operationOf,
  operations,
  readsOf,
} from '../../catalogue/operations.ts'
import {
  type Area,
  type Need,
  type Requirement,
  mayBeUnreachable,
} from '../../catalogue/requirement.ts'
import { scenarioExample } from '../../catalogue/scenario-examples.ts'
import { mergePatch, getAt, isObject, tokensOf } from '../../schemas/json.ts'
import {
  matchesId,
  maxPatterns,
  patternProblem,
  type Reason,
  undeclaredReason,
} from '../report/index.ts'
import type { Scenario, Target, TargetFile } from './model.ts'
import {
  catalogue,
  grantedRequirement,
  isRequirementId,
  requirementOf,
} from '../../catalogue/catalogue.ts'
import { didYouMean, requirementIds } from './nearest.ts'
import { defaultPointer, memberOf } from './roles.ts'

/**
 * True if the target file declares what the pointer names. Of an operation that is not served nothing is declared; a
 * role that has a default is, if the body is; a name, which no section shows, if the body has it.
 * @param operation whose restricted key is meant, if each has its own
 */
export function declares(file: TargetFile, pointer: string, operation?: Area): boolean {
  const [member = '', name = '', part = '', role = ''] = tokensOf(pointer)
  const value = getAt(file, pointer)
  if (member === 'operations') {
    const declared = getAt(file, `/operations/${name}`)
    if (typeof declared !== 'object') return false
    if (value === undefined && part === 'fields' && isOperationId(name)) {
      const at = defaultPointer(name, role)
      const body = role === 'name' ? `/body${at}` : '/body'
      return (
        at !== undefined &&
        (operationOf(name).body === 'raw' || getAt(declared, body) !== undefined)
      )
    }
  }
  if (
    member === 'keys' &&
    name === 'restricted' &&
    operation !== undefined &&
    isKeyPerOperation(value)
  ) {
    return Object.hasOwn(value, operation)
  }
  return value !== undefined
}

/** True for `keys.restricted` with one key per operation id. */
export function isKeyPerOperation(value: unknown): value is Partial<Record<OperationId, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !['env', 'file', 'command'].some((member) => Object.hasOwn(value, member))
  )
}

/** True if the operation reads an object that the target declares: then none has to be made for it. */
export function readsDeclared(operation: OperationId, file: TargetFile): boolean {
  const reads = readsOf(operation)
  return reads !== undefined && declares(file, reads.declaredAt)
}

/** The needs for which no alternative is declared. */
export function missingNeeds(file: TargetFile, needs: readonly Need[], operation?: Area): Need[] {
  return needs.filter(
    (need) => ![need].flat().some((pointer) => declares(file, pointer, operation)),
  )
}

/** True if the requirement can be judged: a scenario is declared for it, or all it needs is. */
export function isDeclared(file: TargetFile, { id, needs, operation }: Requirement): boolean {
  return (
    Object.hasOwn(file.scenarios ?? {}, id) || missingNeeds(file, needs, operation).length === 0
  )
}

/** Names what to declare, and what to paste into the target file for it; undefined if nothing is missing. */
export function missingReason(
  file: TargetFile,
  needs: readonly Need[],
  operation?: Area,
): Reason | undefined {
  const missing = missingNeeds(file, needs, operation)
  if (missing.length === 0) return undefined
  const needed = missing.filter((need) => ![need].flat().every(hasDefault))
  const undeclared = (needed.length > 0 ? needed : missing).map((need) =>
    usefulOf(need, file, operation),
  )
  const names = undeclared.map((need) => need.map(nameOf))
  return undeclaredReason(names, snippetOf(undeclared, file))
}

/** The alternatives of a need; without those by which an object is made, if what makes it is not served. */
function usefulOf(need: Need, { operations = {} }: TargetFile, operation?: Area): string[] {
  const reads = operation !== undefined && isOperationId(operation) ? readsOf(operation) : undefined
  const isGiven =
    reads &&
    [need].flat().includes(reads.declaredAt) &&
    typeof operations[reads.madeBy] === 'string'
  return isGiven ? [reads.declaredAt] : [need].flat()
}

/** The file with an entry for each operation that its `"*"` stands for: those without one that need no declared resource. */
export function withEveryOperation(file: TargetFile): TargetFile {
  const { '*': rest, ...own } = file.operations ?? {}
  if (rest === undefined) return file
  const others = operations.filter(({ id }) => own[id] === undefined && !needsDeclared(file, id))
  return {
    ...file,
    operations: { ...own, ...Object.fromEntries(others.map(({ id }) => [id, rest])) },
  }
}

function needsDeclared(file: TargetFile, id: OperationId): boolean {
  const pointers = requirementOf(grantedRequirement[id]).needs.flat()
  return pointers.some((pointer) => pointer.startsWith('/resources/') && declares(file, pointer))
}

/** True for a role that has a default: it is missing because the body is. */
function hasDefault(pointer: string): boolean {
  const [, operation = '', part, role = ''] = tokensOf(pointer)
  return (
    part === 'fields' && isOperationId(operation) && defaultPointer(operation, role) !== undefined
  )
}

function nameOf(pointer: string): string {
  const [member, ...rest] = tokensOf(pointer)
  return `${member}.${rest.join(member === 'scenarios' ? '/' : '.')}`
}

/**
 * A target file that declares the needs (the first alternative of each): JSON on one line, to be pasted into one.
 * @param file into which it is pasted
 */
export function snippetOf(needs: readonly Need[], file: TargetFile = {}): string {
  return spaced(needs.map((need) => exampleFile(need, file)).reduce(mergePatch, {}))
}

function exampleFile(need: Need, file: TargetFile): unknown {
  const [member = '', name = '', part, ...rest] = tokensOf([need].flat()[0] ?? '')
  if (member === 'scenarios') return { scenarios: { [name]: scenarioFor(name, file) } }
  return { [member]: { [name]: exampleOf(member, name, part, rest[0]) } }
}

/** The example of a scenario, with members of the body at the places that `fields` gives them. */
function scenarioFor(id: string, { operations = {} }: TargetFile): unknown {
  const example = scenarioExample(id)
  const { merge, operation = id.split('/')[0] } = example
  if (!isObject(merge) || typeof operation !== 'string' || !isOperationId(operation)) return example
  const declared = operations[operation]
  if (typeof declared !== 'object') return example
  const { members } = operationOf(operation)
  const parts = Object.entries(merge).map(([name, value]) => {
    const member = members.find((each) => examplePlace(each) === `/${name}`)
    const fields: Readonly<Record<string, string>> = declared.fields ?? {}
    const place = fields[(member && roleOf(member)) ?? '']
    const tokens = place === undefined ? [name] : tokensOf(place)
    return tokens.reduceRight((inner: unknown, token) => ({ [token]: inner }), value)
  })
  return { ...example, merge: parts.reduce(mergePatch, {}) }
}

function exampleOf(
  member: string,
  name: string,
  part: string | undefined,
  last: string | undefined,
): unknown {
  if (member === 'keys') return { env: keyExamples[name] ?? 'NAME' }
  if (member === 'operations' && isOperationId(name)) return operationExample(name, part, last)
  const resource = Object.entries<unknown>(resourceExamples).find(([known]) => known === name)?.[1]
  return part === 'requiredInputs'
    ? { ...(resource as object), requiredInputs: ['<input id>'] }
    : resource
}

function operationExample(operation: OperationId, part: string | undefined, last = ''): unknown {
  const { example: body } = operationOf(operation)
  if (body === undefined) return contentExample
  const member = memberOf(operation, last)
  if (part === 'body' && last !== '') return { body: { ...body, [last]: {}, ...member?.example } }
  if (part !== 'fields' || !member) return { body }
  // Nothing of a declared body is repeated, except the members on the way of the pointer.
  return {
    ...(member.example ? { body: { ...body, ...member.example } } : {}),
    fields: { [last]: examplePlace(member) },
  }
}

/** JSON on one line with a blank after each colon and comma. */
function spaced(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/([{[]) | (?=[}\]])/g, '$1')
}

/** Parts of a target file beside its operations: pasted from reasons, so that each fits the schema. Angle brackets are to be filled in. */
const application = { id: '<application id>', inputs: [{ id: '<input id>', value: ['tea'] }] }

export const resourceExamples = {
  application,
  otherApplication: application,
  slowApplication: application,
  failingApplication: application,
  job: '<job id>',
  pdfFile: '<file id>',
  pdfText: '<words of that PDF>',
  corruptedPdfFile: { upload: 'corrupted.pdf' },
  encryptedPdfFile: { upload: 'encrypted.pdf' },
  oversizedPdfFile: { upload: 'oversized.pdf' },
  file: '<file id>',
  deletedFile: '<file id>',
  graph: '<graph id>',
}

export const contentExample = {
  content: { text: 'Tea is a drink.' },
  contentType: 'text/plain',
  filename: 'tea.txt',
}

export const keyExamples: Readonly<Record<string, string>> = {
  full: 'CONFORM_API_KEY',
  expired: 'CONFORM_KEY_EXPIRED',
  restricted: 'CONFORM_KEY_RESTRICTED',
}

/** The requirements that are unreachable, and why: what an entry matches, if it may be unreachable and is not declared nevertheless. */
export function unreachableIds(file: TargetFile): Record<string, string> {
  const entries = Object.entries(file.unreachable ?? {})
  const reasons: Record<string, string> = {}
  for (const requirement of catalogue) {
    const [, reason] = entries.find(([pattern]) => matchesId(requirement.id, pattern)) ?? []
    if (reason !== undefined && mayBeUnreachable(requirement) && !isDeclared(file, requirement))
      reasons[requirement.id] = reason
  }
  return reasons
}

export function unreachableProblems(file: TargetFile): string[] {
  const entries = Object.keys(file.unreachable ?? {})
  if (entries.length > maxPatterns) return [`unreachable has more than ${maxPatterns} entries`]
  return entries.flatMap((entry) => {
    const problem = patternProblem(entry)
    if (problem !== undefined) return [`unreachable: ${problem}`]
    const path = `unreachable.${entry}`
    const matched = catalogue.filter(({ id }) => matchesId(id, entry))
    if (
      isRequirementId(entry) &&
      matched.some((requirement) => isDeclared(file, requirement) && mayBeUnreachable(requirement))
    ) {
      return [`${path}: what this requirement needs is declared; remove one of the two`]
    }
    if (matched.some(mayBeUnreachable)) return []
    if (matched.length === 0)
      return [`${path} matches no requirement${didYouMean(entry, requirementIds)}`]
    return [
      `${path} matches only what the full key and a valid request can reach, and that cannot be declared unreachable`,
    ]
  })
}

/** True if the scenario needs the target to itself: it changes a state that other requests would meet. */
export function isExclusive({ before, after, repeat }: Scenario): boolean {
  return before.length > 0 || after.length > 0 || repeat !== undefined
}

/** Requirements whose scenario needs the target to itself: they run alone, after everything else. */
export function exclusiveIds({ scenarios }: Pick<Target, 'scenarios'>): ReadonlySet<string> {
  const alone = Object.entries(scenarios).filter(([, scenario]) => isExclusive(scenario))
  return new Set(alone.map(([id]) => id))
}
