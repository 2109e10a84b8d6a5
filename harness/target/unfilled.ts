/** Texts that somebody forgot to fill in: placeholders of what the suite gives to paste, and variables as a shell writes them. */
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'
import { scenarioExample } from '../../catalogue/scenario-examples.ts'
import { resourceExamples } from './examples.ts'
import { isIdPlace, textsOf } from './saved.ts'
import type { TargetFile } from './target-file.ts'

/** What is in angle brackets in what reasons, pages and `conform explain` give to paste. */
let known: ReadonlySet<string> | undefined

function placeholders(): ReadonlySet<string> {
  const examples = [resourceExamples, operations, catalogue.map(({ id }) => scenarioExample(id))]
  known ??= new Set(JSON.stringify(examples).match(/<[^<>"]+>/g))
  return known
}

/** What is still to be filled in, each in one sentence. */
export function unfilledProblems(file: TargetFile): string[] {
  return textsOf(file, '').flatMap(([at, text]) => {
    const place = at.slice(1)
    const problem = placeholderProblem(place, text) ?? variableProblem(place, text)
    return problem === undefined ? [] : [problem]
  })
}

function placeholderProblem(place: string, text: string): string | undefined {
  // A text may be about a <model>; in an id, in a key and in the name of a member angle brackets are never meant.
  const inText = (text.match(/<[^<>]+>/g) ?? []).find(
    (one) => placeholders().has(one) && (one === text || one.includes(' ')),
  )
  const inId = isIdPlace(place) || isKeyPlace(place) ? /^<[^<>]+>$/.exec(text)?.[0] : undefined
  const inName = place.match(/<[^<>]+>/g)?.find((one) => placeholders().has(one))
  const found = inText ?? inId ?? inName
  return found === undefined
    ? undefined
    : `${place} still has the placeholder ${found}: put in what your target has, or remove the entry`
}

/** A key as text: in `keys`, or of a scenario. */
function isKeyPlace(place: string): boolean {
  return /^keys\.|^scenarios\..+\.key$/.test(place) && !/\.(env|file|command\[\d+\])$/.test(place)
}

/** Nothing expands `$NAME` in a target file: sent as it is, it would be a wrong key. */
function variableProblem(place: string, text: string): string | undefined {
  const takesVariable = isKeyPlace(place) || /(^|\.)(headers|query)\.[^.]+$/.test(place)
  if (!takesVariable && !isIdPlace(place)) return undefined
  const [whole, braced, bare] = /\$\{([A-Z_][A-Z\d_]*)\}|^\$([A-Z_][A-Z\d_]*)$/.exec(text) ?? []
  const name = braced ?? bare
  if (whole === undefined || name === undefined) return undefined
  const remedy = takesVariable
    ? `write {"env": ${JSON.stringify(name)}} as its whole value`
    : `write the id, or make the target file a module (.ts, .mjs), which can read process.env.${name}`
  return `${place} has ${whole}, which nothing fills in: ${remedy}`
}
