import Foundation

/// A file of records, with its entity if the file's name contains it.
package struct ImportSource: Sendable {
    package let records: RecordSource
    /// The entity in the file's name, for the files of a folder.
    package var entity: String?
    package var name: String { records.name }
    /// Whether an empty field counts as no value, because the format has no other notation for it.
    var emptyIsNil: Bool { !records.format.hasTypes && !records.keepsEmpty }

    package init(records: RecordSource, entity: String? = nil) {
        self.records = records
        self.entity = entity
    }

    func makeReader() throws -> any RecordReader { try records.makeReader() }
}
