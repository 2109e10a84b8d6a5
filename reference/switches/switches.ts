import { defects } from './defects.ts'
import { named } from './table.ts'

/**
 * All variants: other ways to conform. Several may be on at once if they do not affect the same thing. `settling/...`,
 * `jobs/readable-late` and `slow/refusals` take as long as the options say. With switches such as `pdf-removed`, the target
 * must declare the operation as removed.
 */
export const variants: readonly string[] = named(
  '/',
  `
    json          additional-members members-reversed spread
    envelope      no-errors bare-errors without-key without-description without-item-extras
    envelope      unlisted-keys keys-of-kind several-errors full-extras other-language
    headers       charset odd-content-type many
    connection    chunked closed closed-unannounced short-lived reset-when-reused
    compressed    gzip deflate br
    successes     no-content plain-text empty other-2xx json-scalar accepted-creations no-content-creations
    answers       large huge
    lists         bare-array
    aliases       404 405 page-404
    spellings     served redirected refused page
    names         optional
    order         body-first existence-first existence-before-body state-first rights-last
    jobs          no-optional-members all-members updated-before-created updated-when-created updated-at-moves
    jobs          born-completed born-failed instant fail-now-and-then readable-late
    jobs          texts-limited values-limited others-now-and-then
    uuids         upper-case upper-case-in-creation upper-case-in-retrieval
    dates         offset negative-offset unknown-offset long-fraction short-fraction whole-seconds
    dates         lower-case coarser-in-retrieval two-readings two-readings-earlier
    clock         hours-behind hours-ahead
    ids           numeric json-number int64 long upper-case
    requests      unknown-members-rejected nulls-rejected values-coerced
    generation    empty varying blocked-now-and-then input-blocked-now-and-then
    generation    model-fails-now-and-then provider-blocked-now-and-then
    models        other-statuses
    tokens        below-zero-granted below-zero-bad-request
    processing    slow
    settling      uploads graphs applications
    graphs        empty-not-queried
    keys          told-by-parts
    applications  inputs-demanded
    slow          refusals
    files         known-by-content refused-twice unique-names
    throttled     429 429-seconds 429-date 503 503-seconds
    unknown-path  400 401 403
    methods       400 405 lists
    pdf-removed,pdf-removed-404,pdf-removed-page-404,pdf-removed-page-410 -`,
)

export type Switches = ReturnType<typeof createSwitches>

function checked(kind: string, known: readonly string[], names: Iterable<string>): Set<string> {
  const chosen = new Set(names)
  for (const name of chosen)
    if (!known.includes(name)) throw new Error(`the reference has no ${kind} "${name}"`)
  return chosen
}

/** @throws Error on an unknown name */
export function createSwitches(defectNames: Iterable<string>, variantNames: Iterable<string>) {
  const on = checked('defect', defects, defectNames)
  const ways = checked('variant', variants, variantNames)
  const broken = (defect: string): boolean => on.has(defect)
  const varied = (variant: string): boolean => ways.has(variant)
  return {
    broken,
    varied,
    /** Whether any switch with that prefix is on: a quick test before asking for many. */
    hasSome: (beginning: string): boolean =>
      [...on, ...ways].some((name) => name.startsWith(beginning)),
    /** The first entry of a table whose defect `<beginning><entry>` is on. */
    brokenOf: <Entry>(
      table: Readonly<Record<string, Entry>>,
      beginning: string,
    ): Entry | undefined => Object.entries(table).find(([name]) => broken(beginning + name))?.[1],
    /** Whether a defect `<beginning><case>` is on in whose case the caller is. */
    brokenIn: (beginning: string, cases: Readonly<Record<string, boolean>>): boolean =>
      Object.entries(cases).some(([name, isCase]) => isCase && broken(beginning + name)),
    variedOf: <Entry>(table: Readonly<Record<string, Entry>>): Entry | undefined =>
      Object.entries(table).find(([name]) => varied(name))?.[1],
  }
}

/**
 * Whether a switch only has an effect on a socket, so that `createReference` refuses it: connections, and encodings
 * that clients handle below HTTP. `#no-answer` works without a socket.
 */
export function needsSocket(name: string): boolean {
  return /^(?:connection|compressed)\/|#(?:closed|dropped|no-http|spoils-connection)$/.test(name)
}
