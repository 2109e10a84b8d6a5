import { terminalText } from '../reporters/escape/terminal.ts'
import { Command, InvalidArgumentError, Option } from 'commander'
import { passphraseOf, processSpeaker } from '../certificate/passphrase.ts'
import { signFiles } from '../certificate/sign.ts'
import { suiteFacts } from '../certificate/suite-facts.ts'
import { MOST_VALID_DAYS, VALID_DAYS } from '../certificate/validity.ts'
import { repeatable } from './run/options.ts'
import { canonicalTarget } from '../harness/target/map-keys.ts'
import { loadTargetFile } from '../harness/target/load.ts'

interface SignArguments {
  readonly privateKey: string
  readonly out?: string
  readonly bundle?: string
  readonly add?: string
  readonly har: readonly string[]
  readonly target?: string
  readonly validDays: number
  readonly partial?: boolean
}

export function signCommand(): Command {
  return new Command('sign')
    .description('issue a certificate for the JSON report of a whole, conformant run, or countersign one')
    .argument('[report.json]', 'report of conform --report json')
    .requiredOption('--private-key <pem>', 'Ed25519 private key; conform keygen makes one')
    .option('--out <file>', 'where to write the certificate (default: conform-certificate.json, with --bundle nowhere)')
    .option('--bundle <file.zip>', 'write report, exchanges, target file without keys and certificate as one file')
    .addOption(repeatable('--har <file.har>', 'the recorded exchanges of the run; repeatable, one for each shard'))
    .option('-t, --target <file>', 'the target file of the run; its keys are left out of the bundle')
    .option('--add <file>', 'countersign this certificate or bundle, held against its report first')
    .addOption(
      new Option('--valid-days <n>', `how long it is valid from the run on, at most ${MOST_VALID_DAYS}`)
        .argParser(days)
        .default(VALID_DAYS),
    )
    .option('--partial', 'sign any report that agrees with itself; the certificate says why it is partial')
    .action(async (report: string | undefined, options: SignArguments) => {
      const { bundle, target, partial = false } = options
      const out = options.out ?? (bundle === undefined ? 'conform-certificate.json' : undefined)
      const speaker = processSpeaker()
      await signFiles(
        { ...options, report, out, partial, target: target === undefined ? undefined : await withoutKeys(target) },
        { now: new Date(), suite: suiteFacts(), askPassphrase: (file) => passphraseOf(file, speaker) },
      )
      const beside = report === undefined ? '' : ` --report ${report}`
      if (out !== undefined) said(`${out} written; check it with: conform verify ${out}${beside}`)
      if (bundle !== undefined) said(`${bundle} written; check it with: conform verify --bundle ${bundle}`)
    })
}

async function withoutKeys(path: string): Promise<{ path: string; bytes: Buffer }> {
  const { file } = await loadTargetFile(path)
  return { path, bytes: Buffer.from(canonicalTarget(file)) }
}

function said(line: string): void {
  process.stdout.write(`${terminalText(line, Infinity)}\n`)
}

function days(text: string): number {
  const number = Number(text)
  if (!/^\d{1,3}$/.test(text) || number < 1 || number > MOST_VALID_DAYS) {
    throw new InvalidArgumentError(`Give whole days, from 1 to ${MOST_VALID_DAYS}.`)
  }
  return number
}
