"""Pictures of trees and results."""
