/// Why compressed data or an archive cannot be read or written.
package struct ZipFailure: Error, CustomStringConvertible, Sendable {
    package enum Kind: Sendable {
        /// The bytes are not what they claim to be.
        case damaged
        /// What they claim would do harm: paths out of the folder, links, bombs.
        case refused
        /// Something that is allowed in archives, and not supported here.
        case unsupported
        /// A file cannot be read or written.
        case file
    }

    package var kind: Kind
    package var message: String
    package var description: String { message }

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
