import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import { operations } from '../catalogue/operations.ts'
import { suiteFacts } from '../certificate/suite-facts.ts'
import { verifyFile } from '../certificate/verify-file.ts'
import { baseUrlProblem, didYouMean, normalBaseUrl } from '../harness/target-file/index.ts'
import { json } from '../reporters/escape/json.ts'
import { keyIdOption, repeatable, whole } from './run/arguments.ts'
import { colorsFor, tell } from './output/say.ts'
import { buildRegister } from '../certificate/register/build.ts'
import { count } from '../harness/report/index.ts'

export function verifyCommand() {
  return new Command('verify')
    .description(
      'check a certificate, offline: exit 0 if it is valid and all that was asked for, 1 if not, 2 if it could not be looked at',
    )
    .argument('<file>', 'the certificate, or a bundle, which holds all that it rests on')
    .option(
      '--public-key <pem>',
      "a signer's public key; without it the keys inside are used, which does not say whose they are",
    )
    .addOption(
      keyIdOption('id of a key that has to have signed it; repeatable, one of them is enough'),
    )
    .option('--report <report.json>', 'the report that the certificate was issued for')
    .addOption(
      repeatable(
        '--har <file.har>',
        'the exchanges that it was issued for, beside --report; repeatable',
      ),
    )
    .addOption(
      new Option('--require <verdict>', 'exit 1 for anything less, a partial one included').choices(
        ['conformant'] as const,
      ),
    )
    .option(
      '--require-operations <ids or n>',
      'operations that were judged, with commas, or how many',
      operationsAsked,
    )
    .option('--base-url <url>', 'the address that was judged', address)
    .option('--max-age <days>', 'exit 1 if the run began more days ago', whole(0, 9999))
    .option(
      '--revoked <file>',
      'revoked.json, or the index.json of a register: refuses what was revoked',
    )
    .option('--json', 'print the findings as JSON')
    .action((file, { json: isJson, ...request }) => {
      const by = { now: new Date(), suite: suiteFacts() }
      const { headLines, lines, result } = verifyFile({ ...request, file }, by)
      const { stdout } = process
      const colors = colorsFor(stdout)
      // Whoever signed it: an unknown key vouches for nothing.
      const isKnown = result.signedBy.some(({ known }) => known !== null)
      const paint = result.accepted && !isKnown ? paints.insufficient : paints[result.outcome]
      if (isJson) stdout.write(`${json(result, 2)}\n`)
      else
        tell(stdout, [
          ...lines.slice(0, headLines).map((line) => colors.bold(colors[paint](line))),
          ...lines.slice(headLines).map((line) => line.replace(/^[a-z ]+: /, colors.dim)),
        ])
      if (!result.accepted) process.exitCode = 1
    })
}

const paints = { accepted: 'green', insufficient: 'yellow', invalid: 'red' } as const

/** A number of operations, or ids with commas between; the option may stand twice. */
function operationsAsked(
  text: string,
  before: number | readonly string[] | undefined,
): number | readonly string[] {
  if (/^\d+$/.test(text)) {
    const number = Number(text)
    if (number < 1 || number > operations.length || before !== undefined)
      throw new InvalidArgumentError(`Give a number from 1 to ${operations.length}, or ids.`)
    return number
  }
  if (typeof before === 'number') throw new InvalidArgumentError('Give a number, or ids.')
  const known: string[] = operations.map(({ id }) => id)
  const ids = text.split(',').map((id) => id.trim())
  const unknown = ids.find((id) => !known.includes(id))
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `${JSON.stringify(unknown)} is not an operation${didYouMean(unknown, known)}.`,
    )
  return [...(before ?? []), ...ids]
}

function address(text: string): string {
  const problem = baseUrlProblem(text)
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`)
  return normalBaseUrl(text)
}

export function registerCommand() {
  return new Command('register')
    .description(
      'build a static site of certified services from a folder of certificates and bundles',
    )
    .argument(
      '<folder>',
      'the certificates; with trusted-keys.json and revoked.json in the same folder',
    )
    .requiredOption(
      '--out <folder>',
      'where to write the site: a new or empty folder, or a register built before',
    )
    .addOption(
      keyIdOption('id of a key to trust in addition to those of trusted-keys.json; repeatable'),
    )
    .action(async (folder, { out, keyId }) => {
      const options = { keyIds: keyId, now: new Date(), suite: suiteFacts() }
      const services = buildRegister(folder, out, options)
      const states = (['valid', 'expired', 'revoked'] as const).map(
        (status) =>
          `${services.filter(({ current }) => current.status === status).length} ${status}`,
      )
      tell(process.stdout, [
        `${out} written: ${[count(services.length, 'service'), ...states].join(', ')}`,
      ])
    })
}
