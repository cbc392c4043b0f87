import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataPostgreSQLDriver

/// Values of a statement's parameters, as they are sent.
@Suite struct ParameterBufferTests {
    @Test func valuesStayWhatTheyAreWhenRoomIsMade() throws {
        let rows = 60
        let types = (0..<rows).flatMap { _ in [PostgreSQLType.bytes, PostgreSQLType.boolean, PostgreSQLType.int8] }
        for length in [1, 7, 50, 100, 333] {
            let buffer = ParameterBuffer(types)
            for row in 0..<rows {
                try Data(repeating: UInt8(row), count: length).withUnsafeBytes { try buffer.set(3 * row, blob: $0) }
                try buffer.set(3 * row + 1, integer: Int64(row % 2))
                try buffer.set(3 * row + 2, integer: Int64(row))
            }
            let wrong = buffer.withValues { values, lengths, _ in
                (0..<rows).filter { row in
                    guard let values, let lengths, let bytes = values[3 * row], let truth = values[3 * row + 1],
                        let number = values[3 * row + 2]
                    else { return true }
                    let isWhole = (0..<length).allSatisfy { UInt8(bitPattern: bytes[$0]) == UInt8(row) }
                    let integer = UnsafeRawPointer(number).loadUnaligned(as: Int64.self)
                    return !isWhole || lengths[3 * row] != length || Int(truth[0]) != row % 2
                        || Int64(bigEndian: integer) != row
                }
            }
            #expect(wrong == [], "of \(length) bytes")
        }
    }

    @Test func parametersAreCountedOn() {
        let text = ServerText.together([
            ("UPDATE \"a$1\" SET \"x\"\"$2\" = '$3' || $1 WHERE \"k\" = $2", 2, true),
            ("INSERT INTO \"b$1\" (\"'\") VALUES ($1, $12::BIGINT, '''$1')", 12, false),
            ("SELECT 1 FROM \"c\" WHERE \"k\" = $1 FOR SHARE", 1, true),
        ])
        #expect(
            text == """
                WITH "s1" AS (UPDATE "a$1" SET "x""$2" = '$3' || $1 WHERE "k" = $2 RETURNING 1), \
                "s2" AS (INSERT INTO "b$1" ("'") VALUES ($3, $14::BIGINT, '''$1')), \
                "s3" AS (SELECT 1 FROM "c" WHERE "k" = $15 FOR SHARE) \
                SELECT 1 / COALESCE((SELECT 1 FROM "s1") + (SELECT 1 FROM "s3"), 0)
                """)
    }
}
