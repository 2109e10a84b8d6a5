import { Command } from '@commander-js/extra-typings'
import { keyId, newPassphrase, writeKeyPair } from './keys.ts'

export function keygenCommand() {
  return new Command('keygen')
    .summary('make a key pair for certificates')
    .description(
      'make an Ed25519 key pair for signing certificates; never overwrites a file. Asks for the passphrase on a terminal, or takes it from CONFORM_KEY_PASSPHRASE',
    )
    .option(
      '--private-key <pem>',
      'private key file to write, readable by its owner only',
      'conform-key.pem',
    )
    .option('--public-key <pem>', 'public key file to write', 'conform-key.pub.pem')
    .action(async (options) => {
      const passphrase = await newPassphrase()
      const publicKey = writeKeyPair(options.privateKey, options.publicKey, passphrase)
      const warning = passphrase === undefined ? '; it has no passphrase' : ''
      process.stdout.write(
        `private key: ${options.privateKey} (keep it secret${warning})\n` +
          `public key:  ${options.publicKey}\n` +
          `key id:      ${keyId(publicKey)}\n`,
      )
    })
}
