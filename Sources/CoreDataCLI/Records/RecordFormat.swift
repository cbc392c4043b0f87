import Foundation

/// The formats in which records are read and written.
enum RecordFormat: String, CaseIterable {
    case xml, json, ndjson, csv

    /// By the end of the file's name; `nil` where that tells nothing.
    init?(fileName: String) {
        switch fileName.split(separator: ".").last?.lowercased() {
        case "xml": self = .xml
        case "json": self = .json
        case "ndjson", "jsonl": self = .ndjson
        case "csv", "tsv": self = .csv
        default: return nil
        }
    }

    /// Whether the format tells a missing value from an empty text and has numbers, lists and nested objects.
    var hasTypes: Bool { self == .json || self == .ndjson }
}

/// How to read a file of records.
struct RecordSource {
    /// A path; `-` for standard input.
    var path: String
    var format: RecordFormat
    /// The entity that the records are for: picks them from a file that has several; `nil` for all.
    var entity: String?
    /// XML: the name of the repeated element.
    var element: String?
    /// CSV: what stands between fields.
    var delimiter: UInt8
    /// Whether an empty field is an empty text instead of no value.
    var keepsEmpty: Bool

    var name: String { path == "-" ? "standard input" : path }

    func makeReader() throws -> any RecordReader {
        let contents = try FileBytes.contents(path: path, name: name)
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
