/// The reason why compressed data or an archive cannot be read or written.
package struct ZipFailure: Error, CustomStringConvertible, Sendable {
    package enum Kind: Sendable {
        /// The data is corrupted.
        case damaged
        /// The content would cause harm: paths outside the folder, links, zip bombs.
        case refused
        /// A feature that archives allow but this library does not support.
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
