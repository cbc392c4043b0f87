import Foundation

/// A file of records, and whose they are where its name tells.
package struct ImportSource: Sendable {
    package let records: RecordSource
    /// The entity that the file's name tells, of the files of a folder.
    package var entity: String?
    package var name: String { records.name }
    /// Whether an empty field is no value, as the format has no other way to write that.
    var emptyIsNil: Bool { !records.format.hasTypes && !records.keepsEmpty }

    package init(records: RecordSource, entity: String? = nil) {
        self.records = records
        self.entity = entity
    }

    func makeReader() throws -> any RecordReader { try records.makeReader() }
}
