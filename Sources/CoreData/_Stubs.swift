import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation

extension NSPredicate { package var node: PredicateNode { .constant(true) } 
 func withSubstitutionVariables2(_ v: [String: Any]) -> NSPredicate { self } }
extension Foundation.NSExpression { package var node: ExpressionNode { .evaluatedObject } }
enum OperandBridging { static func any(from: Operand) -> Any? { nil }; static func operand(from: Any?) -> Operand { .null } }
struct SortTerm { var key: String; var isAscending: Bool; var comparison: FetchPlan.Sort.Comparison; init?(_ d: NSSortDescriptor) { nil } }
final class RowCache: Sendable { 
  struct Entry { var row: RowSnapshot; var readTime: Double }
  init(roots: [Int]) {}
  func adopt(_ rows: inout [RowSnapshot], at: Double) {}
  func entry(root: Int, primaryKey: Int64) -> Entry? { nil }
  func replace(_ r: [RowSnapshot], at: Double) {}
  func remove(_ k: [RowKey]) {}
  func release(root: Int, primaryKey: Int64) {}
  func removeAll() {} }
extension StoreEngine {
  func rows(_ plan: FetchPlan) throws -> [RowSnapshot] { [] }
  func keys(_ plan: FetchPlan) throws -> [RowKey] { [] }
  func count(_ plan: FetchPlan) throws -> Int { 0 }
  func tuples(_ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode], having: PredicateNode?) throws -> [[Value]] { [] }
  func rows(forKeys: [Int64], root: Int) throws -> [RowSnapshot] { [] }
  func row(_ k: Int64, root: Int) throws -> RowSnapshot? { nil }
  func destinationRows(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, rows: [RowSnapshot])] { [] }
}
