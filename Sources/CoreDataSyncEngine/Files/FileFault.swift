/// Why the bytes of a file cannot be read: what is wrong, and where.
///
/// A reader throws it for any bytes that no writer of this version made. The file is left where it is: a torn one may
/// be complete later, and one of a newer version is read after an update.
package struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// Bytes are missing or differ from those that were written.
        case torn
        /// Another program wrote the file.
        case foreign
        /// A newer version wrote the file, in a form that this version cannot read.
        case newerVersion
        /// The bytes are intact, but a count, a length or a value in them is out of bounds.
        case malformed
    }

    package let kind: Kind
    /// What is wrong, in words.
    package let detail: String
    /// The number of bytes before the fault, counted in the bytes that the reader was given.
    package let offset: Int
    /// The name of the file, if the caller said it.
    package var file: String?

    package init(_ kind: Kind, _ detail: String, at offset: Int = 0, file: String? = nil) {
        (self.kind, self.detail, self.offset, self.file) = (kind, detail, offset, file)
    }

    package var description: String {
        let advice =
            switch kind {
            case .torn: "It is read again later, when it may be complete."
            case .foreign: "It is ignored."
            case .newerVersion: "Update this program to read it."
            case .malformed: "It is ignored; the device that wrote it can write a snapshot instead."
            }
        return "The file\(file.map { " “\($0)”" } ?? "") cannot be read: \(detail) (byte \(offset)). \(advice)"
    }
}
