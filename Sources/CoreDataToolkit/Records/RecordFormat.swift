import Foundation

/// The formats in which records are read and written.
public enum RecordFormat: String, CaseIterable, Sendable {
    /// The children of the root element; their attributes are the fields.
    case xml
    /// An array of objects, or an object with such an array for each entity.
    case json
    /// One JSON object a line.
    case ndjson
    /// A table whose first row names the fields (RFC 4180).
    case csv

    /// By the end of the file's name; `nil` where that tells nothing.
    public init?(fileName: String) {
        switch fileName.split(separator: ".").last?.lowercased() {
        case "xml": self = .xml
        case "json": self = .json
        case "ndjson", "jsonl": self = .ndjson
        case "csv", "tsv": self = .csv
        default: return nil
        }
    }

    /// Whether the format tells a missing value from an empty text and has numbers, lists and nested objects.
    package var hasTypes: Bool { self == .json || self == .ndjson }
}

/// How to read a file of records.
package struct RecordSource: Sendable {
    /// A path; `-` for standard input.
    package var path: String
    package var format: RecordFormat
    /// The entity that the records are for: picks them from a file that has several; `nil` for all.
    package var entity: String?
    /// XML: the name of the repeated element.
    package var element: String?
    /// CSV: what stands between fields.
    package var delimiter: UInt8
    /// Whether an empty field is an empty text instead of no value.
    package var keepsEmpty: Bool
    /// What to read in place of the file at the path, which is then only its name.
    package var contents: Data?

    package init(
        path: String, format: RecordFormat, entity: String? = nil, element: String? = nil,
        delimiter: UInt8 = UInt8(ascii: ","), keepsEmpty: Bool = false, contents: Data? = nil
    ) {
        self.path = path
        self.format = format
        self.entity = entity
        self.element = element
        self.delimiter = delimiter
        self.keepsEmpty = keepsEmpty
        self.contents = contents
    }

    package var name: String { path == "-" ? "standard input" : path }

    package func makeReader() throws -> any RecordReader {
        let contents = try contents ?? FileBytes.contents(path: path, name: name)
        switch format {
        // XML says itself which encoding it is in.
        case .xml: return try XMLRecordReader(contents, name: name, entity: entity, element: element)
        case .json: return try JSONRecordReader(FileBytes(contents, name: name), entity: entity)
        case .ndjson: return NDJSONRecordReader(try FileBytes(contents, name: name))
        case .csv:
            return try CSVRecordReader(FileBytes(contents, name: name), delimiter: delimiter, keepsEmpty: keepsEmpty)
        }
    }
}
