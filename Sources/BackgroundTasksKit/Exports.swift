// As UIKit does: a program that imports the kit need import neither.
@_exported public import Dispatch
@_exported public import Foundation
