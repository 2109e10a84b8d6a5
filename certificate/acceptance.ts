import type { Verification } from './verify-certificate.ts'

/** What somebody asks of a certificate beyond its being valid. */
export interface Demands {
  /** `--require conformant`: by exact names, and not partial. */
  readonly require?: 'conformant' | undefined
  /** `--key-id`: one of these keys must have signed. */
  readonly keyIds?: readonly string[] | undefined
}

/** Which demands it does not meet, one clause each. */
export function unmetDemands({ statement, signers }: Verification, { require, keyIds = [] }: Demands): string[] {
  if (!statement) return []
  const { partial, verdicts } = statement.predicate
  const isSigned = keyIds.length === 0 || keyIds.some((id) => signers.includes(id))
  return [
    ...(isSigned ? [] : [`it is not signed by ${keyIds.join(' or ')} (--key-id)`]),
    ...(require === 'conformant' && verdicts.exact !== 'conformant'
      ? [`it is ${verdicts.exact} by exact names (--require conformant)`]
      : []),
    ...(require === 'conformant' && partial.length > 0 ? ['it is partial (--require conformant)'] : []),
  ]
}
