import type { Report, RequirementResult } from '../harness/report/model.ts'
import { parseJson } from '../harness/report/json-file.ts'
import { isObject } from '../schemas/json-object.ts'
import { matchesId } from '../harness/report/selection.ts'
import { UserError } from '../harness/user-error.ts'
import type { NamedBytes } from './bundle.ts'
import { sha256 } from './make-statement.ts'

/** What a target file says of what cannot be judged. */
interface Declared {
  readonly operations: Readonly<Record<string, unknown>>
  readonly unreachable: Readonly<Record<string, unknown>>
}

/** Why this is not the target file of that report, or does not declare what the report takes out of the judgement. */
export function targetProblems({ name, bytes }: NamedBytes, { target, requirements }: Report): string[] {
  if (`sha256:${sha256(bytes).sha256}` !== target.digest) return [`${name} is not the target file of the report`]
  const declared = declaredIn(Buffer.from(bytes).toString('utf8'), name)
  return requirements
    .filter((result) => result.outcome === 'not-applicable' && !isDeclared(result, declared))
    .map(({ id }) => `${id} is not applicable by the report, but ${name} declares nothing of the kind`)
}

function isDeclared({ id, operation }: RequirementResult, { operations, unreachable }: Declared): boolean {
  // It is about a removed operation, and applies to no other.
  if (id === 'pdf.parse/4xx-removed') return true
  if (typeof operations[operation] === 'string') return true
  return Object.keys(unreachable).some((pattern) => matchesId(id, pattern))
}

function declaredIn(text: string, name: string): Declared {
  try {
    const file = parseJson(text, name)
    const member = (key: string) => (isObject(file) && isObject(file[key]) ? file[key] : {})
    return { operations: member('operations'), unreachable: member('unreachable') }
  } catch (error) {
    if (error instanceof UserError) return { operations: {}, unreachable: {} }
    throw error
  }
}
