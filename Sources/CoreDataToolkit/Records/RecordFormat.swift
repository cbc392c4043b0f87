import Foundation

/// The file formats of records.
public enum RecordFormat: String, CaseIterable, Sendable {
    /// XML: each child of the root element is a record; its attributes are the fields.
    case xml
    /// JSON: an array of objects, or an object with such an array for each entity.
    case json
    /// NDJSON: one JSON object per line.
    case ndjson
    /// CSV: a table whose first row contains the field names (RFC 4180).
    case csv

    /// The format of a file name extension; fails for an unknown one.
    public init?(fileName: String) {
        switch fileName.split(separator: ".").last?.lowercased() {
        case "xml": self = .xml
        case "json": self = .json
        case "ndjson", "jsonl": self = .ndjson
        case "csv", "tsv": self = .csv
        default: return nil
        }
    }

    /// Whether the format distinguishes a missing value from an empty text, and has numbers, lists and nested objects.
    package var hasTypes: Bool { self == .json || self == .ndjson }
}

/// A file of records and the options for reading it.
package struct RecordSource: Sendable {
    /// A path; `-` for standard input.
    package var path: String
    package var format: RecordFormat
    /// The entity of the records to read, if the file has several; `nil` for all.
    package var entity: String?
    /// The name of the repeated XML element.
    package var element: String?
    /// The delimiter of CSV fields.
    package var delimiter: UInt8
    /// Whether an empty field is an empty text instead of no value.
    package var keepsEmpty: Bool
    /// The content to read instead of the file at the path, which is then only a name.
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
        // XML declares its own encoding.
        case .xml: return try XMLRecordReader(contents, name: name, entity: entity, element: element)
        case .json: return try JSONRecordReader(FileBytes(contents, name: name), entity: entity)
        case .ndjson: return NDJSONRecordReader(try FileBytes(contents, name: name))
        case .csv:
            return try CSVRecordReader(FileBytes(contents, name: name), delimiter: delimiter, keepsEmpty: keepsEmpty)
        }
    }
}
