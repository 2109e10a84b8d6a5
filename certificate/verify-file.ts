import { basename } from 'node:path'
import { type EvidenceFiles, readCertificateFile } from './certificate-file.ts'
import { describe } from './describe.ts'
import { keyId } from './dsse.ts'
import { readPublicKey } from './keys.ts'
import type { Operations, Statement } from './statement.ts'
import type { SuiteFacts } from './suite-facts.ts'
import { refused, verifyCertificate, type Verification } from './verify-certificate.ts'

export interface VerifyRequest extends EvidenceFiles, Demands {
  /** The certificate or the bundle. */
  readonly file: string
  readonly publicKey?: string | undefined
}

/** What `verify --json` prints. */
export interface VerifyResult {
  /** Valid, and all that was asked of it is met: exit 0. */
  readonly accepted: boolean
  readonly valid: boolean
  readonly problems: readonly string[]
  /** What `--require` and `--key-id` asked for in vain. */
  readonly unmet: readonly string[]
  /** Each signer, and how it was known: by which option, or not at all. */
  readonly signedBy: readonly { readonly keyId: string; readonly known: '--public-key' | '--key-id' | null }[]
  /** `sha256:` of what was signed; null if the signature does not hold. */
  readonly certificate: string | null
  /** By exact names; null likewise, as are the rest. */
  readonly verdict: string | null
  readonly partial: readonly string[] | null
  readonly operations: Operations | null
  readonly statement: Statement | null
  /** Whether the claims were held against the report, its exchanges and the target file. */
  readonly heldAgainst: readonly string[]
}

/** Looks at a certificate or bundle; throws UserError if it cannot be looked at. */
export function verifyFile(
  request: VerifyRequest,
  { now, suite }: { readonly now: Date; readonly suite: SuiteFacts },
): { readonly result: VerifyResult; readonly lines: readonly string[] } {
  const publicKey = request.publicKey === undefined ? undefined : readPublicKey(request.publicKey)
  const { bytes, evidence, bundle } = readCertificateFile(request.file, request)
  const verification = bytes
    ? verifyCertificate(bytes, { now, suite, publicKey, evidence })
    : refused('it is not a bundle as conform sign writes it; it was changed, or is another archive')
  const unmet = unmetDemands(verification, request)
  const { problems, signers, statement } = verification
  const { keyIds = [] } = request
  const given = publicKey && { path: request.publicKey as string, id: keyId(publicKey) }
  const knownBy = (id: string) => (id === given?.id ? '--public-key' : keyIds.includes(id) ? '--key-id' : null)
  const heldAgainst = evidence
    ? ['report', ...(evidence.exchanges ? ['exchanges'] : []), ...(evidence.target ? ['target'] : [])]
    : []
  const words = bundle ? `the report in ${basename(request.file)}` : request.report
  return {
    lines: describe(verification, unmet, {
      publicKey: given,
      keyIds,
      evidence: words,
      ownRequirements: suite.requirementsDigest,
    }),
    result: {
      accepted: problems.length === 0 && unmet.length === 0,
      valid: problems.length === 0,
      problems,
      unmet,
      signedBy: signers.map((id) => ({ keyId: id, known: knownBy(id) })),
      certificate: verification.id ?? null,
      verdict: statement?.predicate.verdicts.exact ?? null,
      partial: statement?.predicate.partial ?? null,
      operations: statement?.predicate.operations ?? null,
      statement: statement ?? null,
      heldAgainst,
    },
  }
}

/** What somebody asks of a certificate beyond its being valid. */
interface Demands {
  /** `--require conformant`: by exact names, and not partial. */
  readonly require?: 'conformant' | undefined
  /** `--key-id`: one of these keys must have signed. */
  readonly keyIds?: readonly string[] | undefined
}

/** Which demands it does not meet, one clause each. */
function unmetDemands({ statement, signers }: Verification, { require, keyIds = [] }: Demands): string[] {
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
