import Foundation

@testable import CoreDataToolkit

/// All records of a text: fields as `name=value`, joined; a failure's description ends them.
func records(
    _ text: String, _ format: RecordFormat, entity: String = "Item", element: String? = nil, delimiter: Character = ",",
    keepsEmpty: Bool = false
) -> [String] {
    var results: [String] = []
    do {
        let bytes = FileBytes(text, name: "file")
        let data = Data(text.utf8)
        var reader: any RecordReader =
            switch format {
            case .xml: try XMLRecordReader(data, name: "file", entity: entity, element: element)
            case .json: try JSONRecordReader(bytes, entity: entity)
            case .ndjson: NDJSONRecordReader(bytes)
            case .csv: try CSVRecordReader(bytes, delimiter: delimiter.asciiValue ?? 0x2C, keepsEmpty: keepsEmpty)
            }
        while true {
            do {
                guard let record = try reader.next() else { break }
                let fields = record.fields.map { "\($0.name)=\(shown($0.value))" }.joined(separator: " ")
                results.append("\(record.line)#\(record.number) \(fields)")
            } catch let failure as RecordFailure where failure.isRecoverable {
                results.append("skippable \(failure)")
            }
        }
    } catch { results.append("\(error)") }
    return results
}

/// A value so that texts differ from numbers.
private func shown(_ value: FieldValue) -> String {
    switch value {
    case .null: "null"
    case .boolean(let value): "\(value)"
    case .number(let text): text
    case .text(let text): "'\(text)'"
    case .list(let values): "[" + values.map(shown).joined(separator: " ") + "]"
    case .object(let fields): "{" + fields.map { "\($0.name)=\(shown($0.value))" }.joined(separator: " ") + "}"
    }
}
