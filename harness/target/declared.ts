import {
  examplePlace,
  isOperationId,
  type OperationId,
  operations,
  operationOf,
} from '../../catalogue/operations.ts'
import { granting } from '../../catalogue/catalogue.ts'
import { type Area, type Need, type Requirement } from '../../catalogue/requirement.ts'
import { scenarioExample } from '../../catalogue/scenario-examples.ts'
import { getAt, isObject, mergePatch, tokensOf } from '../../schemas/json.ts'
import { type Reason, undeclaredReason } from '../report/index.ts'
import type { OperationValue, TargetFile } from './model.ts'

/**
 * True if the target file declares what the pointer names. Operations not served declare nothing; a role with a default
 * counts if the body is declared; a name, which no section shows, if the body contains it. A member of the body counts
 * where its role points.
 * @param area whose restricted key, if there are several
 */
export function declares(file: TargetFile, pointer: string, area?: Area): boolean {
  const [member = '', name = '', part = '', role = ''] = tokensOf(pointer)
  const value = getAt(file, pointer)
  let isDeclared = value !== undefined
  if (member === 'keys' && name === 'restricted' && area !== undefined && isKeyPerOperation(value))
    isDeclared = Object.hasOwn(value, area)
  if (member === 'operations') {
    const declared = getAt(file, `/operations/${name}`)
    const isRole = part === 'fields' && isOperationId(name)
    const at = isRole ? operationOf(name).fields[role] : undefined
    const movedTo = part === 'body' ? getAt(declared, `/fields/${role}`) : undefined
    if (typeof declared !== 'object') isDeclared = false
    else if (typeof movedTo === 'string')
      isDeclared = getAt(declared, `/body${movedTo}`) !== undefined
    else if (!isDeclared && isRole && at !== undefined) {
      const body = role === 'name' ? `/body${at}` : '/body'
      isDeclared = operationOf(name).body === 'raw' || getAt(declared, body) !== undefined
    }
  }
  return isDeclared
}

export function isKeyPerOperation(value: unknown): value is Partial<Record<OperationId, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  return !['env', 'file', 'command'].some((name) => Object.hasOwn(value, name))
}

/** True if the operation reads a declared object, so that none has to be created. */
export function readsDeclared(operation: OperationId, file: TargetFile): boolean {
  const reads = operationOf(operation).reads
  return reads !== undefined && declares(file, reads.declaredAt)
}

export function missingNeeds(file: TargetFile, needs: readonly Need[], area?: Area): Need[] {
  return needs.filter((need) => ![need].flat().some((pointer) => declares(file, pointer, area)))
}

export function isDeclared(file: TargetFile, requirement: Requirement): boolean {
  const { id, needs, operation } = requirement
  const hasScenario = Object.hasOwn(file.scenarios ?? {}, id)
  return hasScenario || missingNeeds(file, needs, operation).length === 0
}

export function missingReason(
  file: TargetFile,
  needs: readonly Need[],
  area?: Area,
): Reason | undefined {
  const missing = missingNeeds(file, needs, area)
  if (missing.length === 0) return undefined
  // If a role with a default is missing, the body is missing.
  const needed = missing.filter((need) => ![need].flat().every(hasDefault))
  const undeclared = (needed.length > 0 ? needed : missing).map((need) =>
    usefulOf(need, file, area),
  )
  const names = undeclared.map((need) => need.map(nameOf))
  return undeclaredReason(names, snippetOf(undeclared, file))
}

function hasDefault(pointer: string): boolean {
  const [, operation = '', part, role = ''] = tokensOf(pointer)
  const isRole = part === 'fields' && isOperationId(operation)
  return isRole && operationOf(operation).fields[role] !== undefined
}

function usefulOf(need: Need, file: TargetFile, area?: Area): string[] {
  const pointers = [need].flat()
  const reads = area !== undefined && isOperationId(area) ? operationOf(area).reads : undefined
  const isGiven = reads && typeof file.operations?.[reads.madeBy] === 'string'
  return isGiven && pointers.includes(reads.declaredAt) ? [reads.declaredAt] : pointers
}

function nameOf(pointer: string): string {
  const [member, ...rest] = tokensOf(pointer)
  return `${member}.${rest.join(member === 'scenarios' ? '/' : '.')}`
}

export function withEveryOperation(file: TargetFile): TargetFile {
  const { '*': rest, ...own } = file.operations ?? {}
  if (rest === undefined) return file
  const needsDeclared = (id: OperationId): boolean =>
    granting[id].needs
      .flat()
      .some((pointer) => pointer.startsWith('/resources/') && declares(file, pointer))
  const others = operations.filter((one) => own[one.id] === undefined && !needsDeclared(one.id))
  const entries = others.map((other) => [other.id, rest] as const)
  return { ...file, operations: { ...own, ...Object.fromEntries(entries) } }
}

/**
 * A target file that declares the first alternative of each need, as one line of JSON to paste.
 * @param file the file to paste it into
 */
export function snippetOf(needs: readonly Need[], file: TargetFile = {}): string {
  const snippet = needs.map((need) => exampleFile(need, file)).reduce(mergePatch, {})
  return JSON.stringify(snippet, null, 1)
    .replaceAll(/\n */g, ' ')
    .replaceAll(/([{[]) | (?=[}\]])/g, '$1')
}

function exampleFile(need: Need, file: TargetFile): unknown {
  const [member = '', name = '', part, last = ''] = tokensOf([need].flat()[0] ?? '')
  const example = (): unknown => {
    if (member === 'scenarios') return scenarioFor(name, file)
    if (member === 'keys')
      return { env: name === 'full' ? 'CONFORM_API_KEY' : `CONFORM_KEY_${name.toUpperCase()}` }
    if (isOperationId(name)) return operationExample(name, part, last)
    return part === 'requiredInputs'
      ? { ...application, requiredInputs: ['<input id>'] }
      : resourceExamples[name]
  }
  return { [member]: { [name]: example() } }
}

function scenarioFor(id: string, file: TargetFile): unknown {
  const example = scenarioExample(id)
  const { merge, operation = id.split('/')[0] } = example
  if (!isObject(merge) || typeof operation !== 'string' || !isOperationId(operation)) return example
  const declared = file.operations?.[operation]
  if (typeof declared !== 'object') return example
  const { fields = {} }: OperationValue = declared
  const parts = Object.entries(merge).map(([name, value]) => {
    const { members } = operationOf(operation)
    const member = members.find((each) => examplePlace(each) === `/${name}`)
    const place = fields[member?.role ?? '']
    const tokens = place === undefined ? [name] : tokensOf(place)
    return tokens.reduceRight((inner: unknown, token) => ({ [token]: inner }), value)
  })
  return { ...example, merge: parts.reduce(mergePatch, {}) }
}

function operationExample(operation: OperationId, part: string | undefined, last: string): unknown {
  const { example: body, members } = operationOf(operation)
  if (body === undefined) return contentExample
  const member = members.find((one) => one.role === last)
  if (part === 'body' && last !== '') return { body: { ...body, [last]: {}, ...member?.example } }
  if (part !== 'fields' || !member) return { body }
  const needed = member.example && { body: { ...body, ...member.example } }
  return { ...needed, fields: { [last]: examplePlace(member) } }
}

const application = { id: '<application id>', inputs: [{ id: '<input id>', value: ['tea'] }] }

const resourceExamples: Readonly<Record<string, unknown>> = {
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

const contentExample = {
  content: { text: 'Tea is a drink.' },
  contentType: 'text/plain',
  filename: 'tea.txt',
}
