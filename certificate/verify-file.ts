import { basename } from 'node:path'
import { type EvidenceFiles, readCertificateFile, keyId } from './certificate-file.ts'
import { describe } from './describe.ts'
import { readPublicKey } from './keys.ts'
import { DAY_MS, reasonsIn } from './statement.ts'
import type { SuiteFacts } from './suite-facts.ts'
import { refused, verifyCertificate, type Verification } from './verify-certificate.ts'

/** A certificate, and the options of `verify`: what it is held against, and what is asked of it beyond its being valid. */
export interface VerifyRequest extends EvidenceFiles {
  /** The certificate or the bundle. */
  readonly file: string
  readonly publicKey?: string | undefined
  /** By exact names, not partial, and by the requirements of a version of the suite. */
  readonly require?: 'conformant' | undefined
  /** One of these keys must have signed. */
  readonly keyId?: readonly string[] | undefined
  /** These must have been judged, or so many. */
  readonly requireOperations?: readonly string[] | number | undefined
  /** In normal form. */
  readonly baseUrl?: string | undefined
  /** The run began no more days ago. */
  readonly maxAge?: number | undefined
}

/**
 * Looks at a certificate or bundle; throws UserError if it cannot be looked at. Gives the lines that `verify` prints, and what
 * `verify --json` does.
 */
export function verifyFile(
  request: VerifyRequest,
  { now, suite }: { readonly now: Date; readonly suite: SuiteFacts },
) {
  const publicKey = request.publicKey === undefined ? undefined : readPublicKey(request.publicKey)
  const { bytes, evidence, bundle } = readCertificateFile(request.file, request)
  const found = bytes
    ? verifyCertificate(bytes, { now, suite, publicKey, evidence })
    : refused('it is not a bundle as conform sign writes it; it was changed, or is another archive')
  const { keyId: keyIds = [] } = request
  const given = publicKey && { path: request.publicKey as string, id: keyId(publicKey) }
  const named = [...keyIds, ...(given ? [given.id] : [])]
  const unmet = unmetDemands(found, { ...request, named, now })
  const { problems, signers, statement } = found
  const { verdicts, partial, operations } = statement?.predicate ?? {}
  const words = bundle ? `the report in ${basename(request.file)}` : request.report
  return {
    ...describe(found, unmet, {
      publicKey: given,
      keyIds,
      evidence: words,
      exchanges: evidence?.exchanges !== undefined,
      suite,
    }),
    result: {
      /** Valid, and all that was asked of it is met: exit 0. */
      accepted: problems.length === 0 && unmet.length === 0,
      /** `insufficient`: valid, but not what was asked for. */
      outcome: outcomeOf(problems, unmet),
      valid: problems.length === 0,
      problems,
      unmet,
      /** Each signer, and how it was known: by which option, or not at all. */
      signedBy: signers.map((id) => ({
        keyId: id,
        known: id === given?.id ? '--public-key' : named.includes(id) ? '--key-id' : null,
      })),
      /** `sha256:` of what was signed; null if the signature does not hold, as are the rest but the last two. */
      certificate: found.id ?? null,
      /** By exact names. */
      verdict: verdicts?.exact ?? null,
      /** Whether its requirements are those of a version of the suite that this one knows. */
      published: statement ? !found.isForeign : null,
      partial: partial ?? null,
      operations: operations ?? null,
      statement: statement ?? null,
      /** Names of the evidence that the claims were held against. */
      heldAgainst: [
        evidence && 'report',
        evidence?.exchanges && 'exchanges',
        evidence?.target && 'target',
      ].filter(Boolean),
    },
  }
}

function outcomeOf(problems: readonly string[], unmet: readonly string[]) {
  if (problems.length > 0) return 'invalid' as const
  return unmet.length > 0 ? ('insufficient' as const) : ('accepted' as const)
}

/** @param asked with the ids of all keys that were named */
function unmetDemands(
  { statement, signers, isForeign }: Verification,
  asked: VerifyRequest & { readonly named: readonly string[]; readonly now: Date },
): string[] {
  if (!statement) return []
  const { uri } = statement.subject[0]
  const { operations, partial, run, verdicts } = statement.predicate
  const { judged } = operations
  const {
    baseUrl,
    keyId: keyIds = [],
    maxAge = Infinity,
    now,
    requireOperations: required = 0,
  } = asked
  const unsigned = asked.named.filter((id) => !signers.includes(id))
  const unjudged = typeof required === 'number' ? [] : required.filter((id) => !judged.includes(id))
  const fewest = typeof required === 'number' ? required : 0
  const age = now.getTime() - Date.parse(run.startedAt)
  const whole = asked.require === 'conformant'
  const unknown =
    'its requirements are those of no version of the suite that this one knows (--require conformant); a later version may know them'
  return reasonsIn([
    [
      keyIds.length > 0 && keyIds.every((id) => unsigned.includes(id)),
      `it is not signed by ${keyIds.join(' or ')} (--key-id)`,
    ],
    [
      whole && verdicts.exact !== 'conformant',
      `it is ${verdicts.exact} by exact names (--require conformant)`,
    ],
    [whole && partial.length > 0, 'it is partial (--require conformant)'],
    [whole && isForeign, unknown],
    [baseUrl !== undefined && uri !== baseUrl, `it is for ${uri} (--base-url ${baseUrl})`],
    [
      judged.length < fewest,
      `${judged.length} operations were judged (--require-operations ${fewest})`,
    ],
    [unjudged.length > 0, `it does not judge ${unjudged.join(', ')} (--require-operations)`],
    [age > maxAge * DAY_MS, `the run began at ${run.startedAt} (--max-age ${maxAge})`],
  ])
}
