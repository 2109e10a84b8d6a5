import { terminalText } from '../reporters/escape/terminal.ts'
import { tell } from './output/say.ts'
import { Command } from '@commander-js/extra-typings'
import {
  readPrivateKey,
  passphraseOf,
  processSpeaker,
  writeKeyPair,
  newPassphrase,
} from '../certificate/keys.ts'
import { MOST_VALID_DAYS, VALID_DAYS } from '../certificate/statement.ts'
import { signCertificate, type SignRequest, type SignSettings } from '../certificate/sign.ts'
import { suiteFacts } from '../certificate/suite-facts.ts'
import { canonicalTarget, loadTargetFile, redactorFor } from '../harness/target-file/index.ts'
import { checkOutputs, type OutputFile, writeFiles } from './output/files.ts'
import { repeatable, whole } from './run/arguments.ts'
import { keyId } from '../certificate/certificate-file.ts'
import { checkTarget } from '../traffic/base-url.ts'

export function signCommand() {
  return new Command('sign')
    .description(
      'issue a certificate for the JSON report of a whole, conformant run, or countersign one',
    )
    .argument('[report.json]', 'report of conform --report json')
    .requiredOption('--private-key <pem>', 'Ed25519 private key; conform keygen makes one')
    .option(
      '--out <file>',
      'where to write the certificate (default: conform-certificate.json, with --bundle nowhere)',
    )
    .option(
      '--bundle <file.zip>',
      'write report, exchanges, target file without keys and certificate as one file',
    )
    .addOption(
      repeatable(
        '--har <file.har>',
        'the recorded exchanges of the run; repeatable, one for each shard',
      ),
    )
    .option(
      '-t, --target <file>',
      'the target file of the run; its keys are left out of the bundle',
    )
    .option(
      '--add <file>',
      'countersign this certificate or bundle, after the same checks; prints what it signs',
    )
    .option(
      '--valid-days <n>',
      `how long it is valid from the run on, at most ${MOST_VALID_DAYS}`,
      whole(1, MOST_VALID_DAYS),
      VALID_DAYS,
    )
    .option(
      '--partial',
      'sign any report that agrees with itself; the certificate says why it is partial',
    )
    .action(async (report, options) => {
      const { bundle, target: path } = options
      const out = options.out ?? (bundle === undefined ? 'conform-certificate.json' : undefined)
      const bytes = async (file: string) =>
        Buffer.from(canonicalTarget((await loadTargetFile(file)).file))
      const target = path === undefined ? undefined : { name: path, bytes: await bytes(path) }
      const speaker = processSpeaker()
      const settings = {
        now: new Date(),
        suite: suiteFacts(),
        show: (lines: readonly string[]) => lines.forEach(print),
        holdsKey: path === undefined ? undefined : await keyFinder(path),
        privateKey: () => readPrivateKey(options.privateKey, (file) => passphraseOf(file, speaker)),
      }
      await signToFiles(
        { ...options, partial: options.partial ?? false, out, report, target },
        settings,
      )
      const beside = report === undefined ? '' : ` --report ${report}`
      if (out !== undefined) print(`${out} written; check it with: conform verify ${out}${beside}`)
      if (bundle !== undefined) print(`${bundle} written; check it with: conform verify ${bundle}`)
    })
}

async function keyFinder(path: string): Promise<(bytes: Uint8Array) => boolean> {
  const { target } = await checkTarget({ target: path })
  const redactor = redactorFor(target)
  return (bytes) => {
    const text = Buffer.from(bytes).toString('utf8')
    return redactor.text(text) !== text
  }
}

/** Signs, and writes what was asked for, each file whole or not at all; throws UserError if that is refused or cannot be done. */
export async function signToFiles(request: SignRequest, settings: SignSettings): Promise<void> {
  const { add, bundle, har, out, privateKey, report, target } = request
  const outputs = Object.entries({ out, bundle }).flatMap(([name, path]): OutputFile[] =>
    path === undefined ? [] : [{ option: `--${name} ${path}`, path }],
  )
  const inputs = [privateKey, report, add, target?.name, ...har].filter(
    (path) => path !== undefined,
  )
  checkOutputs(outputs, Object.fromEntries(inputs.map((path) => [path, path])))
  const signed = await signCertificate(request, settings)
  await writeFiles(
    outputs.map((output) => [
      output,
      (output.path === bundle ? signed.bundle : undefined) ?? signed.certificate,
    ]),
  )
}

function print(line: string): void {
  tell(process.stdout, [terminalText(line, Infinity)])
}

export function keygenCommand() {
  return new Command('keygen')
    .description(
      'make an Ed25519 key pair for signing certificates; overwrites nothing. A passphrase is asked for on a terminal, or taken from CONFORM_KEY_PASSPHRASE',
    )
    .option(
      '--private-key <pem>',
      'where to write the private key, readable by its owner only',
      'conform-key.pem',
    )
    .option('--public-key <pem>', 'where to write the public key', 'conform-key.pub.pem')
    .action(async (options) => {
      const passphrase = await newPassphrase(processSpeaker())
      const { publicKey } = writeKeyPair(options.privateKey, options.publicKey, passphrase)
      const kept =
        passphrase === undefined ? 'keep it secret; it has no passphrase' : 'keep it secret'
      process.stdout.write(
        `private key: ${options.privateKey} (${kept})\n` +
          `public key:  ${options.publicKey}\n` +
          `key id:      ${keyId(publicKey)}\n`,
      )
    })
}
